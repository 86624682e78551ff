// Pending: why pods wait, grouped by reason, and what would help each.
import { useMemo } from 'preact/hooks';
import { segment } from '../../api/client';
import type { PendingList, PendingPod, SuggestionList } from '../../api/types';
import { useApi } from '../../api/use';
import { ago, count, plural } from '../../lib/format';
import { go, href, type Route } from '../../lib/router';
import { useNow } from '../../lib/now';
import { CheckIcon } from '../../ui/icons';
import { Empty, Failure, Loading, NodeLink, PageHead, Panel, PodLink, Stale } from '../../ui/parts';
import { groupPending, type Group } from './group';

const kShown = 50;

export function PendingPage({ route }: { route: Route }) {
  const { data, error, reload } = useApi<PendingList>('/pending', {}, 2000);
  const groups = useMemo(() => (data ? groupPending(data.groups, data.items) : []), [data]);
  const pick = route.query.reason ?? '';
  const keyOf = (group: Group) => `${group.plugin}: ${group.reason}`;
  const chosen = groups.find((group) => keyOf(group) === pick);
  const pods = chosen ? chosen.pods : (data?.items ?? []);
  const open = route.args.length === 2 ? `${route.args[0]}/${route.args[1]}` : '';
  return (
    <div class="page">
      <PageHead
        title="Pending pods"
        lede={data ? (data.total === 0 ? 'Every pod has a node' : `${plural(data.total, 'pod')} without a node`) : 'Why pods wait, and what would help'}
      />
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
                <a href={href('pending')} aria-current={pick === '' ? 'true' : undefined}>
                  <span class="reason-text">All pending pods</span>
                  <b>{count(data.total)}</b>
                </a>
              </li>
              {groups.map((group) => (
                <li key={keyOf(group)}>
                  <a href={href('pending', [], { reason: keyOf(group) })} aria-current={keyOf(group) === pick ? 'true' : undefined}>
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
            note={pods.length > kShown ? `${kShown} of ${count(chosen?.total ?? data.total)} shown` : undefined}
          >
            <ul class="waiting">
              {pods.slice(0, kShown).map((pod) => (
                <Waiting key={`${pod.namespace}/${pod.name}`} pod={pod} open={open === `${pod.namespace}/${pod.name}`} reason={pick} />
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

function Waiting({ pod, open, reason }: { pod: PendingPod; open: boolean; reason: string }) {
  const now = useNow();
  const where = kWhere[pod.where] ?? { text: pod.where, tone: '' };
  const since = pod.createdAt ?? pod.queuedAt;
  const id = `help-${pod.namespace}-${pod.name}`;
  return (
    <li>
      <div class="waiting-head">
        <PodLink namespace={pod.namespace} name={pod.name} />
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
          onClick={() => go(open ? href('pending', [], { reason }) : href('pending', [pod.namespace, pod.name], { reason }), true)}
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
  if (data.feasibleNow > 0) {
    return <p class="help-note">It fits on {plural(data.feasibleNow, 'node')} now, and is tried again soon.</p>;
  }
  if (data.items.length === 0) {
    return <p class="help-note">No single change helps; {plural(data.tried, 'change was', 'changes were')} tried.</p>;
  }
  return (
    <ul class="help">
      {data.items.map((item) => (
        <li key={item.kind + item.text}>
          <span class="badge good">{item.nodes > 0 ? plural(item.nodes, 'node') : 'helps'}</span>
          <div>
            <p>{item.text}</p>
            {item.examples.length > 0 && (
              <p class="dim small">
                e.g.{' '}
                {item.examples.map((node, i) => (
                  <>
                    {i > 0 && ', '}
                    <NodeLink name={node} />
                  </>
                ))}
              </p>
            )}
          </div>
        </li>
      ))}
      <li class="dim small tried">Each was tried on the cluster as it is; {plural(data.tried, 'change')} in all.</li>
    </ul>
  );
}
