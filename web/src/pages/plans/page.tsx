// Plans: what happens to pods if nodes go. The questions of `berth plan`; nothing in the cluster is touched.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, post } from '../../api/client';
import type { MappedPlan, NodeTable } from '../../api/types';
import { useApi } from '../../api/use';
import { go, href, type Route } from '../../lib/router';
import { PlanIcon } from '../../ui/icons';
import { Empty, Failure, Loading, PageHead, Panel } from '../../ui/parts';
import { nodeGroups } from '../whatif/model';
import { command, fromQuery, kKinds, toQuery, toQuestion, type Draft, type Kind } from './model';
import { Results } from './results';

export function PlansPage({ route }: { route: Route }) {
  const draft = fromQuery(route.query);
  const [answer, setAnswer] = useState<MappedPlan | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const running = useRef<AbortController | null>(null);
  const results = useRef<HTMLDivElement>(null);
  const nodes = useApi<NodeTable>('/nodes');
  // What is asked is part of the address, so that it can be linked.
  const change = (part: Partial<Draft>) => go(href('plans', [], toQuery({ ...draft, ...part })), true);
  useEffect(() => () => running.current?.abort(), []);

  const run = async () => {
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    setBusy(true);
    setError(null);
    try {
      setAnswer(await post<MappedPlan>('/plan', toQuestion(draft), mine.signal));
      // On a narrow screen the answer is below what was asked.
      if (matchMedia('(max-width: 1000px)').matches) results.current?.scrollIntoView({ block: 'start', behavior: 'smooth' });
    } catch (problem) {
      if (mine.signal.aborted) return;
      setAnswer(null);
      setError(problem instanceof ApiError ? problem : new ApiError(0, String(problem)));
    }
    if (running.current === mine) setBusy(false);
  };

  const kind = kKinds.find((each) => each.value === draft.kind)!;
  const known = [...nodeGroups(nodes.data), ...(nodes.data?.name ?? [])];
  return (
    <div class="page">
      <PageHead title="Plans" lede="May these nodes go? Which pods move where, and which have no place. The cluster is not touched.">
        <button class="btn primary" onClick={run} disabled={busy}>
          {busy ? 'Planning…' : 'Plan'}
        </button>
      </PageHead>
      <div class="columns plans">
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void run();
          }}
        >
          <Panel title="Question" note={<code>{command(draft)}</code>}>
            <label class="ask">
              <span>What happens</span>
              <select class="field" value={draft.kind} onChange={(event) => change({ kind: event.currentTarget.value as Kind })}>
                {kKinds.map((each) => (
                  <option key={each.value} value={each.value}>
                    {each.text}
                  </option>
                ))}
              </select>
            </label>
            <p class="soft small">{kind.about}</p>
            {draft.kind !== 'restore-spread' && (
              <label class="ask">
                <span>Nodes</span>
                <input class="field" list="plan-nodes" placeholder="pool=…, zone=…, label=value, or names" value={draft.nodes} autocomplete="off" onInput={(event) => change({ nodes: event.currentTarget.value })} />
              </label>
            )}
            <datalist id="plan-nodes">
              {known.slice(0, 60).map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
            {draft.kind === 'shrink' && (
              <label class="ask">
                <span>How many go</span>
                <input class="field" type="number" min={1} value={draft.count} onInput={(event) => change({ count: event.currentTarget.value })} />
              </label>
            )}
            {(draft.kind === 'consolidate' || draft.kind === 'restore-spread') && (
              <label class="ask">
                <span>Evictions at most</span>
                <input class="field" type="number" min={0} placeholder="any number" value={draft.most} onInput={(event) => change({ most: event.currentTarget.value })} />
              </label>
            )}
          </Panel>
        </form>
        <div class="stack answer" ref={results} aria-live="polite" aria-busy={busy}>
          {error ? (
            <Failure error={error} retry={run} />
          ) : busy ? (
            <Loading height={320} />
          ) : answer ? (
            <Results answer={answer} />
          ) : (
            <div class="panel">
              <Empty icon={<PlanIcon />} title="Nothing planned yet">
                <p>Choose what happens and to which nodes. The cluster is read again for every plan.</p>
              </Empty>
            </div>
          )}
        </div>
      </div>
    </div>
  );
}
