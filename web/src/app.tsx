// The frame around the pages: navigation, theme, the state of the live stream, and the question for a token.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { locked, setToken, token } from './api/client';
import { queueState } from './api/live';
import { apis, askForApis, type Api } from './api/server';
import { listen, streamState } from './api/stream';
import type { QueueState } from './api/types';
import { compact } from './lib/format';
import { href, useRoute, type Route } from './lib/router';
import { useStore } from './lib/store';
import { theme, toggleTheme } from './lib/theme';
import { ClusterPage } from './pages/cluster/page';
import { DecisionPage } from './pages/decision/page';
import { GroupsPage } from './pages/groups/page';
import { PendingPage } from './pages/pending/page';
import { PlansPage } from './pages/plans/page';
import { QueuePage } from './pages/queue/page';
import { ShadowPage } from './pages/shadow/page';
import { WhatIfPage } from './pages/whatif/page';
import { ClusterIcon, DecisionIcon, GroupIcon, KeyIcon, Mark, MoonIcon, PendingIcon, PlanIcon, QueueIcon, ShadowIcon, SunIcon, WhatIfIcon } from './ui/icons';
import { TimeBar } from './replay/timebar';
import { timeline } from './replay/timeline';
import { Empty, PageHead } from './ui/parts';

const kPages: { id: string; api: Api; text: string; title: string; icon: () => JSX.Element; view: (props: { route: Route }) => JSX.Element }[] = [
  { id: 'cluster', api: 'explain', text: 'Cluster', title: 'Cluster', icon: ClusterIcon, view: ClusterPage },
  { id: 'pending', api: 'explain', text: 'Pending', title: 'Pending pods', icon: PendingIcon, view: PendingPage },
  { id: 'groups', api: 'explain', text: 'Groups', title: 'Pod groups', icon: GroupIcon, view: GroupsPage },
  { id: 'decisions', api: 'explain', text: 'Decisions', title: 'Decisions', icon: DecisionIcon, view: DecisionPage },
  { id: 'queue', api: 'explain', text: 'Queue', title: 'Queue', icon: QueueIcon, view: QueuePage },
  { id: 'whatif', api: 'explain', text: 'What-if', title: 'What-if', icon: WhatIfIcon, view: WhatIfPage },
  { id: 'plans', api: 'explain', text: 'Plans', title: 'Plans', icon: PlanIcon, view: PlansPage },
  { id: 'shadow', api: 'shadow', text: 'Shadow', title: 'Shadow', icon: ShadowIcon, view: ShadowPage },
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
              ? 'This token may not read here. Its user needs "get" on the nonResourceURLs of the API, such as /apis/explain/*.'
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
  const served = useStore(apis);
  useEffect(() => void askForApis(), []);
  const explains = served?.includes('explain') ?? false;
  useEffect(() => (explains ? listen<QueueState>('queue', (state) => queueState.set(state)) : undefined), [explains]);
  const replays = served?.includes('replay') ?? false;
  const moves = useStore(timeline)?.moves ?? 0; // pages begin anew at another moment
  const pages = kPages.filter((each) => served?.includes(each.api));
  const page = pages.find((each) => each.id === route.page) ?? (location.hash.length > 2 ? undefined : pages[0]);
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
        <a class="brand" href={href(pages[0]?.id ?? 'cluster')} aria-label="berth, to the first page">
          <Mark />
          berth
        </a>
        <nav class="nav" aria-label="Pages">
          {pages.map(({ id, text, icon: PageIcon }) => (
            <a key={id} href={href(id)} aria-current={id === page?.id ? 'page' : undefined}>
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
          {explains && !replays && <LiveSign />}
          <ThemeButton />
        </div>
      </header>
      {replays && <TimeBar />}
      <main class="main" id="main" tabIndex={-1}>
        {closed ? (
          <TokenGate />
        ) : served === null ? null : View ? (
          <View key={`${page?.id} ${moves}`} route={route} />
        ) : (
          <div class="page">
            <PageHead title="No such page" />
            <div class="panel">
              <Empty title="There is nothing at this address">
                <a class="btn" href={href(pages[0]?.id ?? 'cluster')}>
                  To the first page
                </a>
              </Empty>
            </div>
          </div>
        )}
      </main>
    </>
  );
}
