// Queue: where pods wait, how fast they leave, and the decisions as they are made.
import { useEffect, useRef, useState } from 'preact/hooks';
import { queueState } from '../../api/live';
import { listen, streamState } from '../../api/stream';
import type { DecisionList, DecisionSummary, QueueState } from '../../api/types';
import { useApi } from '../../api/use';
import { clock, compact, count, plural, seconds } from '../../lib/format';
import { useStore } from '../../lib/store';
import { href } from '../../lib/router';
import { QueueIcon } from '../../ui/icons';
import { Empty, Failure, Loading, NodeLink, OutcomeBadge, PageHead, Panel, PodLink } from '../../ui/parts';
import { merge } from '../decision/merge';
import { FlowChart } from './chart';

const kKept = 60;

export function QueuePage() {
  const live = useStore(queueState);
  // The first picture, and all of them when the stream does not come through.
  const { data, error, reload } = useApi<QueueState>('/queue', {}, live ? 0 : 2000);
  const state = live ?? data;
  return (
    <div class="page">
      <PageHead
        title="Queue and live flow"
        lede={state ? `${plural(state.pods ?? 0, 'pod')} on ${plural(state.nodes ?? 0, 'node')}` : 'Where pods wait, and how fast they leave'}
      />
      {error && !state ? <Failure error={error} retry={reload} /> : !state ? <Loading height={420} /> : <Flow state={state} />}
    </div>
  );
}

const kQueues = [
  { key: 'active', text: 'Active', about: 'next to be tried', color: 'var(--cat-0)' },
  { key: 'backoff', text: 'Backoff', about: 'tried, wait their time', color: 'var(--cat-1)' },
  { key: 'unschedulable', text: 'Unschedulable', about: 'wait for an event that may help', color: 'var(--cat-4)' },
  { key: 'gated', text: 'Gated', about: 'not to be tried yet', color: 'var(--cat-2)' },
] as const;

function Flow({ state }: { state: QueueState }) {
  const { counts, last60s, totals } = state;
  const waiting = kQueues.reduce((sum, { key }) => sum + counts[key], 0);
  const under = counts.inFlight + counts.waiting + counts.binding;
  return (
    <>
      <dl class="tiles queue-tiles">
        {kQueues.map(({ key, text, about, color }) => (
          <div class="tile" key={key} data-queue={key}>
            <dt>
              <span class="dot" style={{ background: color }} />
              {text}
            </dt>
            <dd>{compact(counts[key])}</dd>
            <p>{about}</p>
          </div>
        ))}
        <div class="tile">
          <dt>Under way</dt>
          <dd>{compact(under)}</dd>
          <p>
            {count(counts.inFlight)} deciding, {count(counts.waiting)} at Permit, {count(counts.binding)} binding
          </p>
        </div>
      </dl>
      <div class="queue-strip" role="img" aria-label={kQueues.map(({ key, text }) => `${text} ${counts[key]}`).join(', ')}>
        {waiting === 0 ? (
          <span class="queue-none" />
        ) : (
          kQueues.map(({ key, text, color }) => counts[key] > 0 && <i key={key} title={`${text}: ${count(counts[key])}`} style={{ flexGrow: counts[key], background: color }} />)
        )}
      </div>
      <div class="columns wide-first">
        <Panel
          title="The last 60 seconds"
          hint={
            <span class="keys">
              <span class="dot" style={{ background: 'var(--accent)' }} /> bound <span class="dot" style={{ background: 'var(--cat-1)' }} /> not placed
            </span>
          }
        >
          <FlowChart bound={last60s.series?.bound ?? []} failed={last60s.series?.failed ?? []} />
          <dl class="facts figures">
            <div>
              <dt>Bound</dt>
              <dd>
                {count(last60s.bound)} <span class="dim">{rate(last60s.boundPerSecond)}</span>
              </dd>
            </div>
            <div>
              <dt>Attempts</dt>
              <dd>
                {count(last60s.scheduled + last60s.unschedulable + last60s.error)} <span class="dim">{rate(last60s.attemptsPerSecond)}</span>
              </dd>
            </div>
            <div>
              <dt>Not placed</dt>
              <dd>{count(last60s.unschedulable)}</dd>
            </div>
            <div>
              <dt>Errors</dt>
              <dd>{count(last60s.error)}</dd>
            </div>
          </dl>
        </Panel>
        <div class="stack">
          <Panel title="Latency" hint="first attempt to confirmed binding, last 60 s">
            {last60s.latencyMs.count === 0 ? <p class="dim">Nothing was bound in the last minute.</p> : <Latency times={last60s.latencyMs} />}
          </Panel>
          <Panel title="Since the start">
            <dl class="facts">
              <div>
                <dt>Bound</dt>
                <dd>{compact(totals.bound)}</dd>
              </div>
              <div>
                <dt>Scheduled</dt>
                <dd>{compact(totals.scheduled)}</dd>
              </div>
              <div>
                <dt>Not placed</dt>
                <dd>{compact(totals.unschedulable)}</dd>
              </div>
              <div>
                <dt>Errors</dt>
                <dd>{compact(totals.error)}</dd>
              </div>
              <div>
                <dt>Preempted</dt>
                <dd>{compact(totals.preempted)}</dd>
              </div>
            </dl>
          </Panel>
        </div>
      </div>
      <Feed />
    </>
  );
}

function rate(perSecond: number): string {
  if (perSecond === 0) return '0/s';
  return `${perSecond < 10 ? perSecond.toFixed(1) : count(perSecond)}/s`;
}

function Latency({ times }: { times: QueueState['last60s']['latencyMs'] }) {
  const rows = [
    ['p50', times.p50],
    ['p90', times.p90],
    ['p99', times.p99],
    ['max', times.max],
  ] as const;
  const most = Math.max(times.max, 1e-9);
  return (
    <table class="durations">
      <tbody>
        {rows.map(([name, ms]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <span class="bar">
                <i style={{ width: `${(100 * ms) / most}%` }} />
              </span>
            </td>
            <td class="num">{seconds(ms / 1000)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// Decisions as they come. Many can come in one second: they are shown a few times a second, not each for itself.
function Feed() {
  const [rows, setRows] = useState<DecisionSummary[]>([]);
  const [paused, setPaused] = useState(false);
  const [dropped, setDropped] = useState(0);
  const held = useRef<DecisionSummary[]>([]);
  const stopped = useRef(false);
  stopped.current = paused;
  const state = useStore(streamState);
  const last = useApi<DecisionList>('/decisions', { limit: 20 }).data;
  useEffect(() => {
    if (last) setRows((old) => merge(old, last.items).slice(0, kKept));
  }, [last]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (stopped.current || held.current.length === 0) return;
      const news = held.current;
      held.current = [];
      setRows((old) => merge(news, old).slice(0, kKept));
    }, 300);
    const ends = [
      listen<DecisionSummary>('decision', (each) => {
        held.current.push(each);
        if (held.current.length > kKept) held.current.shift();
      }),
      listen<{ decisions: number }>('dropped', (each) => setDropped((n) => n + each.decisions)),
    ];
    return () => {
      clearInterval(timer);
      ends.forEach((end) => end());
    };
  }, []);
  return (
    <Panel
      flush
      title="Decisions as they are made"
      hint={
        <button class="btn small" aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {paused ? 'Go on' : 'Pause'}
        </button>
      }
      note={dropped > 0 ? `${plural(dropped, 'decision')} came too fast to be shown` : undefined}
    >
      {rows.length === 0 ? (
        <Empty icon={<QueueIcon />} title={state === 'live' ? 'Quiet' : 'Not connected'}>
          <p>
            {state === 'live' ? 'The next decision appears here. ' : 'Decisions appear here when the stream is back. '}
            <a href={href('decisions')}>See the last ones</a>
          </p>
        </Empty>
      ) : (
        <div class="scroll feed">
          <table class="table">
            <tbody>
              {rows.map((each) => (
                <tr key={each.id}>
                  <td class="dim nowrap">{clock(Date.parse(each.time))}</td>
                  <td>
                    <PodLink namespace={each.namespace} name={each.name} />
                  </td>
                  <td>
                    <OutcomeBadge outcome={each.outcome} />
                  </td>
                  <td class="nowrap">{each.node ? <NodeLink name={each.node} /> : <span class="dim">{count(each.feasible)} feasible</span>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
