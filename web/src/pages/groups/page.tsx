// Groups: pods that are placed together or not at all, those that wait first.
import { useMemo } from 'preact/hooks';
import type { PodGroupList, PodGroupSummary } from '../../api/types';
import { useApi } from '../../api/use';
import { ago, count, plural } from '../../lib/format';
import { useNow } from '../../lib/now';
import { go, href, type Route } from '../../lib/router';
import { GroupIcon } from '../../ui/icons';
import { Empty, Failure, Loading, PageHead, Panel, Stale } from '../../ui/parts';
import { GroupDetail, StateBadge } from './detail';
import { filterGroups, groupsLede } from './model';

const kShown = 200;

export function GroupsPage({ route }: { route: Route }) {
  if (route.args.length === 2) return <GroupDetail namespace={route.args[0]} name={route.args[1]} />;
  return <List route={route} />;
}

function List({ route }: { route: Route }) {
  const namespace = route.query.namespace ?? '';
  const text = route.query.q ?? '';
  const { data, error, reload } = useApi<PodGroupList>('/podgroups', { namespace }, 2000);
  const change = (query: Record<string, string | undefined>) => go(href('groups', [], { ...route.query, ...query }), true);
  const found = useMemo(() => filterGroups(data?.items ?? [], text), [data, text]);
  const namespaces = [...new Set((data?.items ?? []).map((group) => group.namespace))].sort();
  return (
    <div class="page">
      <PageHead title="Pod groups" lede={data ? groupsLede(data, namespace) : 'Pods that are placed together or not at all'}>
        <input class="field" placeholder="Namespace" aria-label="Namespace" list="group-namespaces" value={namespace} onInput={(event) => change({ namespace: event.currentTarget.value })} />
        <datalist id="group-namespaces">
          {namespaces.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <input class="field" type="search" placeholder="Group or workload" aria-label="Filter by group or workload" value={text} onInput={(event) => change({ q: event.currentTarget.value })} />
      </PageHead>
      <Stale error={data ? error : null} />
      {data && !data.followed && (
        <div class="banner" role="note">
          <span>
            This scheduler schedules pods one by one: the feature gate <code>GenericWorkload</code> of Kubernetes 1.37 is off.
          </span>
        </div>
      )}
      {error && !data ? (
        <Failure error={error} retry={reload} />
      ) : !data ? (
        <Loading />
      ) : data.total === 0 ? (
        <div class="panel">
          <Empty icon={<GroupIcon />} title="No pod groups">
            <p>Pods that name a PodGroup in spec.schedulingGroup are placed together. Their groups appear here.</p>
          </Empty>
        </div>
      ) : (
        <Panel flush label="Pod groups" note={found.length > kShown ? `${kShown} of ${plural(found.length, 'group')} shown` : undefined}>
          {found.length === 0 ? <p class="help-note">No group matches.</p> : <Rows groups={found.slice(0, kShown)} />}
        </Panel>
      )}
    </div>
  );
}

function Rows({ groups }: { groups: PodGroupSummary[] }) {
  const now = useNow();
  return (
    <ul class="waiting groups">
      {groups.map((group) => (
        <li key={`${group.namespace}/${group.name}`}>
          <div class="waiting-head">
            <a class="name" href={href('groups', [group.namespace, group.name])}>
              <span class="ns">{group.namespace}/</span>
              {group.name}
            </a>
            <StateBadge state={group.state} />
            <span>
              {count(group.placed)} <span class="dim">of {plural(group.pods, 'pod')} placed</span>
            </span>
            <span class="dim small">
              {group.minCount ? `at least ${count(group.minCount)} together` : 'no minimum'}
              {group.topology && `, in one ${group.topology}`}
              {group.workload && `, of ${group.workload}`}
              {group.createdAt && `, created ${ago(Date.parse(group.createdAt), now)}`}
              {(group.priority ?? 0) !== 0 && `, priority ${count(group.priority!)}`}
            </span>
          </div>
          {(group.state === 'Waiting' || group.state === 'Incomplete') && group.message && <p class="soft group-why">{group.message}</p>}
        </li>
      ))}
    </ul>
  );
}
