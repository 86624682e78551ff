// The frame around the pages: navigation, theme, the state of the live stream, and the question for a token.
import { useEffect, useState } from 'preact/hooks';
import { locked, setToken, token } from './api/client';
import { queueState } from './api/live';
import { listen, streamState } from './api/stream';
import type { QueueState } from './api/types';
import { compact } from './lib/format';
import { href, useRoute } from './lib/router';
import { useStore } from './lib/store';
import { theme, toggleTheme } from './lib/theme';
import { ClusterPage } from './pages/cluster/page';
import { DecisionPage } from './pages/decision/page';
import { PendingPage } from './pages/pending/page';
import { QueuePage } from './pages/queue/page';
import { WhatIfPage } from './pages/whatif/page';
import { ClusterIcon, DecisionIcon, KeyIcon, Mark, MoonIcon, PendingIcon, QueueIcon, SunIcon, WhatIfIcon } from './ui/icons';
import { Empty, PageHead } from './ui/parts';

const kPages = [
  { id: 'cluster', text: 'Cluster', title: 'Cluster', icon: ClusterIcon, view: ClusterPage },
  { id: 'pending', text: 'Pending', title: 'Pending pods', icon: PendingIcon, view: PendingPage },
  { id: 'decisions', text: 'Decisions', title: 'Decisions', icon: DecisionIcon, view: DecisionPage },
  { id: 'queue', text: 'Queue', title: 'Queue', icon: QueueIcon, view: QueuePage },
  { id: 'whatif', text: 'What-if', title: 'What-if', icon: WhatIfIcon, view: WhatIfPage },
];

function ThemeButton() {
  const dark = useStore(theme) === 'dark';
  return (
    <button class="btn plain icon" onClick={toggleTheme} aria-label={dark ? 'Use the light theme' : 'Use the dark theme'}>
      {dark ? <SunIcon /> : <MoonIcon />}
    </button>
  );
}

function LiveSign() {
  const state = useStore(streamState);
  const text = { off: 'paused', connecting: 'connecting', live: 'live', lost: 'reconnecting' }[state];
  return (
    <span class={`live is-${state}`} role="status" title="The stream of decisions and queue figures">
      <i />
      {text}
    </span>
  );
}

function TokenGate() {
  const error = useStore(locked);
  const [text, setText] = useState('');
  const had = useStore(token) !== '';
  return (
    <div class="panel gate">
      <div class="panel-body">
        <Empty icon={<KeyIcon />} title="A token is needed">
          <p>
            {had && error?.status === 403
              ? 'This token may not read here. Its user needs "get" on the nonResourceURL /apis/explain/*.'
              : had
                ? 'This token was not accepted.'
                : 'This scheduler asks who you are, as it does for /metrics.'}
          </p>
        </Empty>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            locked.set(null);
            setToken(text);
          }}
        >
          <label>
            <span class="sr">Bearer token</span>
            <input
              class="field mono"
              type="password"
              autocomplete="off"
              placeholder="Bearer token"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <button class="btn primary" disabled={text.trim() === ''}>
            Use this token
          </button>
          <p class="dim small">
            It is kept in this tab only. With kubectl: <code>kubectl create token NAME</code>
          </p>
        </form>
      </div>
    </div>
  );
}

export function App() {
  const route = useRoute();
  const closed = useStore(locked);
  const queue = useStore(queueState);
  useEffect(() => listen<QueueState>('queue', (state) => queueState.set(state)), []);
  const page = kPages.find((each) => each.id === route.page);
  useEffect(() => {
    document.title = `${page ? [page.title, ...route.args].join(' · ') : 'Not found'} · berth`;
  }, [page, route]);
  const pending = queue ? queue.counts.unschedulable + queue.counts.backoff + queue.counts.gated : 0;
  const View = page?.view;
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="#/cluster" aria-label="berth, to the cluster">
          <Mark />
          berth
        </a>
        <nav class="nav" aria-label="Pages">
          {kPages.map(({ id, text, icon: PageIcon }) => (
            <a key={id} href={href(id)} aria-current={id === route.page ? 'page' : undefined}>
              <PageIcon />
              {text}
              {id === 'pending' && pending > 0 && (
                <span class="n" aria-label={`${pending} waiting`}>
                  {compact(pending)}
                </span>
              )}
            </a>
          ))}
        </nav>
        <div class="top-end">
          <LiveSign />
          <ThemeButton />
        </div>
      </header>
      <main class="main" id="main" tabIndex={-1}>
        {closed ? (
          <TokenGate />
        ) : View ? (
          <View key={route.page} route={route} />
        ) : (
          <div class="page">
            <PageHead title="No such page" />
            <div class="panel">
              <Empty title="There is nothing at this address">
                <a class="btn" href="#/cluster">
                  To the cluster
                </a>
              </Empty>
            </div>
          </div>
        )}
      </main>
    </>
  );
}
