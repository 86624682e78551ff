// Decisions: the last ones as a list; one of them in full.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { listen } from '../../api/stream';
import type { DecisionList, DecisionSummary } from '../../api/types';
import { useApi } from '../../api/use';
import { clock, count, plural } from '../../lib/format';
import { go, href, type Route } from '../../lib/router';
import { DecisionIcon } from '../../ui/icons';
import { Empty, Failure, Loading, NodeLink, OutcomeBadge, PageHead, Panel, PodLink, Segmented, Stale } from '../../ui/parts';
import { DecisionDetail } from './detail';
import { matches, merge } from './merge';

const kShown = 200;

export function DecisionPage({ route }: { route: Route }) {
  if (route.args.length === 2) {
    return <DecisionDetail key={route.args.join('/')} namespace={route.args[0]} name={route.args[1]} route={route} />;
  }
  return <Decisions route={route} />;
}

function Decisions({ route }: { route: Route }) {
  const outcome = route.query.outcome ?? '';
  const namespace = route.query.namespace ?? '';
  const workload = route.query.workload ?? '';
  const text = route.query.q ?? '';
  const { data, error, reload } = useApi<DecisionList>('/decisions', { outcome, namespace, workload, search: text, limit: kShown }, 10000);
  const [fresh, setFresh] = useState<DecisionSummary[]>([]);
  useEffect(() => listen<DecisionSummary>('decision', (each) => setFresh((old) => [each, ...old].slice(0, kShown))), []);
  const change = (query: Record<string, string | undefined>) => go(href('decisions', [], { ...route.query, ...query }), true);
  const rows = useMemo(() => {
    const wanted = fresh.filter((each) => matches(each, { outcome, namespace, workload, text }));
    return merge(wanted, data?.items ?? []);
  }, [data, fresh, outcome, namespace, workload, text]);
  const filtered = text !== '' || outcome !== '' || namespace !== '' || workload !== '';
  const total = Math.max(data?.total ?? 0, rows.length);
  return (
    <div class="page">
      <PageHead title="Decisions" lede={data ? (filtered ? `${plural(total, 'decision matches', 'decisions match')}, of all that are kept` : `The last ${count(total)} are kept`) : 'Why every pod is where it is'}>
        <Segmented
          label="Outcome"
          value={outcome}
          options={[
            { value: '', text: 'All' },
            { value: 'Scheduled', text: 'Scheduled' },
            { value: 'Unschedulable', text: 'Unschedulable' },
            { value: 'Error', text: 'Error' },
          ]}
          onChange={(value) => change({ outcome: value })}
        />
        <input class="field" placeholder="Namespace" aria-label="Namespace" list="decision-namespaces" value={namespace} onInput={(event) => change({ namespace: event.currentTarget.value })} />
        <datalist id="decision-namespaces">
          {[...new Set(rows.map((each) => each.namespace))].sort().map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <input class="field" placeholder="Workload" aria-label="Workload" value={workload} onInput={(event) => change({ workload: event.currentTarget.value })} />
        <input class="field" type="search" placeholder="Pod or node" aria-label="Search all decisions by pod or node" value={text} onInput={(event) => change({ q: event.currentTarget.value })} />
      </PageHead>
      <Stale error={data ? error : null} />
      {error && !data ? (
        <Failure error={error} retry={reload} />
      ) : !data ? (
        <Loading />
      ) : rows.length === 0 ? (
        <div class="panel">
          <Empty icon={<DecisionIcon />} title={filtered ? 'No decision matches' : 'No decisions yet'}>
            {filtered ? (
              <button class="btn" onClick={() => change({ outcome: undefined, namespace: undefined, workload: undefined, q: undefined })}>
                Show all
              </button>
            ) : (
              <p>
                Create pods and they appear here, e.g. <code>kubectl create deployment web --image=nginx --replicas=20</code>
              </p>
            )}
          </Empty>
        </div>
      ) : (
        <Panel flush note={`${plural(Math.min(rows.length, kShown), 'decision')} of ${count(total)} shown, newest first`}>
          <div class="scroll">
            <table class="table decisions">
              <thead>
                <tr>
                  <th>Time</th>
                  <th>Pod</th>
                  <th>Outcome</th>
                  <th>Node</th>
                  <th class="num">Score</th>
                  <th class="num">Feasible</th>
                  <th>Why</th>
                </tr>
              </thead>
              <tbody>
                {rows.slice(0, kShown).map((each) => (
                  <tr key={each.id}>
                    <td class="dim nowrap">{clock(Date.parse(each.time))}</td>
                    <td>
                      <PodLink namespace={each.namespace} name={each.name} />
                      {each.attempt > 1 && <span class="dim small"> attempt {count(each.attempt)}</span>}
                    </td>
                    <td>
                      <OutcomeBadge outcome={each.outcome} />
                    </td>
                    <td class="nowrap">{each.node ? <NodeLink name={each.node} /> : <span class="dim">–</span>}</td>
                    <td class="num">{each.score === undefined ? <span class="dim">–</span> : count(each.score)}</td>
                    <td class="num nowrap">
                      {count(each.feasible)} <span class="dim">/ {count(each.nodes)}</span>
                    </td>
                    <td class="soft">
                      <div class="clip" title={each.message}>
                        {short(each)}
                      </div>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Panel>
      )}
    </div>
  );
}

function short(each: DecisionSummary): string {
  if (each.outcome === 'Scheduled') {
    if (each.feasible === 1) return 'the only node that fits';
    return (each.equal ?? 0) > 1 ? `one of ${count(each.equal!)} equally good nodes` : 'highest score';
  }
  const first = each.rejections?.[0];
  return first ? `${count(first.nodes)} × ${first.reason}` : (each.message ?? '');
}
