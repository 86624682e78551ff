// Pending: why pods wait, grouped by reason, and what would help each.
import { useMemo, useState } from 'preact/hooks';
import { segment } from '../../api/client';
import type { PendingList, PendingPod, SuggestionList } from '../../api/types';
import { useApi } from '../../api/use';
import { ago, count, plural } from '../../lib/format';
import { go, href, type Route } from '../../lib/router';
import { useNow } from '../../lib/now';
import { CheckIcon } from '../../ui/icons';
import { Empty, Failure, Loading, NodeLink, PageHead, Panel, PodLink, Stale } from '../../ui/parts';
import { groupPending, groupWorkloads, type Group } from './group';

const kShown = 50;

export function PendingPage({ route }: { route: Route }) {
  const namespace = route.query.namespace ?? '';
  const text = route.query.q ?? '';
  const { data, error, reload } = useApi<PendingList>('/pending', { namespace }, 2000);
  const change = (query: Record<string, string | undefined>) => go(href('pending', route.args, { ...route.query, ...query }), true);
  const groups = useMemo(() => (data ? groupPending(data.groups, data.items) : []), [data]);
  const pick = route.query.reason ?? '';
  const keyOf = (group: Group) => `${group.plugin}: ${group.reason}`;
  const chosen = groups.find((group) => keyOf(group) === pick);
  const found = (chosen ? chosen.pods : (data?.items ?? [])).filter((pod) => `${pod.namespace}/${pod.name} ${pod.workload ?? ''}`.toLowerCase().includes(text.toLowerCase()));
  const workloads = groupWorkloads(found);
  const namespaces = [...new Set((data?.items ?? []).map((pod) => pod.namespace))].sort();
  const open = route.args.length === 2 ? `${route.args[0]}/${route.args[1]}` : '';
  return (
    <div class="page">
      <PageHead
        title="Pending pods"
        lede={data ? (data.total === 0 ? 'Every pod has a node' : `${plural(data.total, 'pod')} without a node${namespace ? ` in ${namespace}` : ''}`) : 'Why pods wait, and what would help'}
      >
        <input class="field" placeholder="Namespace" aria-label="Namespace" list="pending-namespaces" value={namespace} onInput={(event) => change({ namespace: event.currentTarget.value })} />
        <datalist id="pending-namespaces">
          {namespaces.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <input class="field" type="search" placeholder="Pod or workload" aria-label="Filter by pod or workload" value={text} onInput={(event) => change({ q: event.currentTarget.value })} />
      </PageHead>
      <Stale error={data ? error : null} />
      {error && !data ? (
        <Failure error={error} retry={reload} />
      ) : !data ? (
        <Loading />
      ) : data.total === 0 ? (
        <div class="panel">
          <Empty icon={<CheckIcon />} title="Nothing is waiting">
            <p>Pods that fit nowhere appear here with the reasons and with what would help.</p>
            <a class="btn" href={href('decisions')}>
              See the last decisions
            </a>
          </Empty>
        </div>
      ) : (
        <div class="columns pending">
          <Panel title="Reasons" hint="a pod may have several" flush>
            <ul class="reasons">
              <li>
                <a href={href('pending', [], { ...route.query, reason: undefined })} aria-current={pick === '' ? 'true' : undefined}>
                  <span class="reason-text">All pending pods</span>
                  <b>{count(data.total)}</b>
                </a>
              </li>
              {groups.map((group) => (
                <li key={keyOf(group)}>
                  <a href={href('pending', [], { ...route.query, reason: keyOf(group) })} aria-current={keyOf(group) === pick ? 'true' : undefined}>
                    <span class="reason-text">
                      {group.reason}
                      {group.plugin && <span class="dim small"> {group.plugin}</span>}
                    </span>
                    <b>{count(group.total)}</b>
                    <span class="bar warn">
                      <i style={{ width: `${(100 * group.total) / Math.max(1, data.total)}%` }} />
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          </Panel>
          <Panel
            flush
            title={chosen ? chosen.reason : 'All pending pods'}
            hint="longest waiting first"
            note={workloads.length > kShown ? `${kShown} of ${plural(workloads.length, 'workload')} shown` : undefined}
          >
            <ul class="waiting">
              {workloads.slice(0, kShown).map(({ pods }) => (
                <Waiting key={`${pods[0].namespace}/${pods[0].name}`} pod={pods[0]} others={pods.slice(1)} open={pods.some((pod) => open === `${pod.namespace}/${pod.name}`)} query={route.query} />
              ))}
            </ul>
          </Panel>
        </div>
      )}
    </div>
  );
}

const kWhere: Record<string, { text: string; tone: string }> = {
  active: { text: 'active', tone: 'accent' },
  backoff: { text: 'backing off', tone: 'warn' },
  unschedulable: { text: 'unschedulable', tone: 'warn' },
  gated: { text: 'gated', tone: '' },
};

// A pod, or those of one workload that wait for the same.
function Waiting({ pod, others, open, query }: { pod: PendingPod; others: PendingPod[]; open: boolean; query: Record<string, string> }) {
  const now = useNow();
  const where = kWhere[pod.where] ?? { text: pod.where, tone: '' };
  const since = pod.createdAt ?? pod.queuedAt;
  const id = `help-${pod.namespace}-${pod.name}`;
  return (
    <li>
      <div class="waiting-head">
        <PodLink namespace={pod.namespace} name={pod.name} />
        {others.length > 0 && (
          <span class="badge" title={others.map((each) => each.name).join(', ')}>
            and {count(others.length)} more of {pod.workload}
          </span>
        )}
        <span class={`badge ${where.tone}`}>{where.text}</span>
        <span class="dim small">
          {plural(pod.attempts, 'attempt')}
          {since && `, waiting for ${ago(Date.parse(since), now).replace(' ago', '')}`}
          {pod.priority !== 0 && `, priority ${count(pod.priority)}`}
        </span>
        <button
          class="btn small"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => go(open ? href('pending', [], query) : href('pending', [pod.namespace, pod.name], query), true)}
        >
          What would help?
        </button>
      </div>
      {(pod.rejections?.length ?? 0) > 0 ? (
        <ul class="why">
          {pod.rejections!.map((each) => (
            <li key={each.plugin + each.reason}>
              <b title="nodes">{each.nodes > 0 ? count(each.nodes) : ''}</b>
              <span>
                {each.reason}
                {each.plugin && <span class="dim small"> {each.plugin}</span>}
              </span>
            </li>
          ))}
        </ul>
      ) : (
        pod.message && <p class="soft">{pod.message}</p>
      )}
      {pod.nominatedNode && (
        <p class="soft">
          Room is being made on <NodeLink name={pod.nominatedNode} />.
        </p>
      )}
      {open && (
        <div id={id}>
          <Help namespace={pod.namespace} name={pod.name} />
        </div>
      )}
    </li>
  );
}

export function Help({ namespace, name }: { namespace: string; name: string }) {
  const { data, error, reload } = useApi<SuggestionList>(`/pods/${segment(namespace)}/${segment(name)}/suggestions`);
  if (error && !data) return <Failure error={error} retry={reload} />;
  if (!data) return <Loading height={80} />;
  if (data.feasibleNow > 0 && data.items.length === 0) {
    return <p class="help-note">It fits on {plural(data.feasibleNow, 'node')} now, and is tried again soon.</p>;
  }
  return (
    <>
      {(data.causes?.length ?? 0) > 0 && (
        <ul class="causes">
          {data.causes!.map((cause) => (
            <li key={cause.text}>
              <p>{cause.text}</p>
              {cause.remedy && <Patch text={cause.remedy} />}
            </li>
          ))}
        </ul>
      )}
      {data.items.length === 0 ? (
        <p class="help-note">No single change helps; {plural(data.tried, 'change was', 'changes were')} tried.</p>
      ) : (
        <ul class="help">
          {data.items.map((item, i) => (
            <li key={item.kind + item.text}>
              <span class="badge good">{item.nodes > 0 && item.kind !== 'AddNode' ? plural(item.nodes, 'node') : 'helps'}</span>
              <div>
                <p>
                  {item.text}
                  {item.whatIf && (
                    <>
                      {' '}
                      <a class="nowrap" href={href('whatif', [], { from: `${namespace}/${name}`, suggestion: String(i), kind: item.kind })}>
                        Try it
                      </a>
                    </>
                  )}
                </p>
                {item.examples.length > 0 && item.kind !== 'AddNode' && (
                  <p class="dim small">
                    e.g.{' '}
                    {item.examples.map((node, k) => (
                      <>
                        {k > 0 && ', '}
                        <NodeLink name={node} />
                      </>
                    ))}
                  </p>
                )}
                {item.patch && <Patch text={item.patch} />}
              </div>
            </li>
          ))}
          <li class="dim small tried">
            Each was tried on the cluster as it is{(data.pending ?? 1) > 1 && `, with all ${count(data.pending!)} pending pods of ${data.workload}`}; {plural(data.tried, 'change')} in all.
          </li>
        </ul>
      )}
    </>
  );
}

// Commands or lines of a manifest, to paste.
export function Patch({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div class="patch">
      <pre tabIndex={0} aria-label="Command">{text}</pre>
      <button
        class="btn small"
        onClick={() => {
          void navigator.clipboard?.writeText(text).then(() => setCopied(true));
        }}
      >
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
