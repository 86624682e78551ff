// The answer to a what-if: totals before and after, where pods would go, what would not fit.
import { useState } from 'preact/hooks';
import type { WhatIfPlacement, WhatIfResult } from '../../api/types';
import { amount, count, percent, plural, seconds } from '../../lib/format';
import { CheckIcon } from '../../ui/icons';
import { Empty, NodeLink, OutcomeBadge, Panel } from '../../ui/parts';
import { before, compare, perNode } from './model';

const kShown = 100;
const kSource: Record<string, string> = { manifest: 'from the manifest', pending: 'waits in the cluster', removedNode: 'from a removed node' };

export function Results({ result, base, zoneOf }: { result: WhatIfResult; base: WhatIfResult | null; zoneOf: (node: string) => string }) {
  const [all, setAll] = useState(false);
  const rows = compare(result, base);
  const moved = rows.filter((row) => row.moved).length;
  const failed = result.placements.filter((each) => each.outcome !== 'Placed' && each.message);
  const placed = result.placed ?? result.placements.filter((each) => each.outcome === 'Placed').length;
  const shown = all ? rows : rows.slice(0, kShown);
  return (
    <>
      <Panel label="Result" note={`Worked out in ${seconds(result.tookMs / 1000)} on a copy of the cluster.`}>
        <dl class="facts figures">
          <div>
            <dt>Placed</dt>
            <dd>
              {count(placed)} <span class="dim">of {count(result.placements.length)}</span>
            </dd>
          </div>
          <div>
            <dt>Not placed</dt>
            <dd class={(result.unschedulable ?? 0) > 0 ? 'is-warn' : ''}>{count(result.unschedulable ?? 0)}</dd>
          </div>
          {(result.gated ?? 0) > 0 && (
            <div>
              <dt>Gated</dt>
              <dd>{count(result.gated!)}</dd>
            </div>
          )}
          {(result.preempted ?? 0) > 0 && (
            <div>
              <dt>Preempted</dt>
              <dd class="is-warn">{count(result.preempted!)}</dd>
            </div>
          )}
          {base && (
            <div>
              <dt>Placed differently</dt>
              <dd>{count(moved)}</dd>
            </div>
          )}
          <div>
            <dt>Nodes</dt>
            <dd>
              {count(result.after.nodes)}
              {result.after.nodes !== result.before.nodes && <span class="dim"> was {count(result.before.nodes)}</span>}
            </dd>
          </div>
        </dl>
        <Uses result={result} />
        {result.notes?.map((note) => (
          <p key={note} class="soft small">
            {note}
          </p>
        ))}
      </Panel>
      {result.placements.length === 0 ? (
        <div class="panel">
          <Empty icon={<CheckIcon />} title="No pod to place">
            <p>The manifest has no pods, and none wait in the cluster.</p>
          </Empty>
        </div>
      ) : (
        <Panel flush title="Where pods would go" hint={<Spread placements={result.placements} zoneOf={zoneOf} />}>
          <div class="scroll">
            <table class="table placements">
              <thead>
                <tr>
                  <th>Pod</th>
                  <th>Outcome</th>
                  <th>Before</th>
                  <th>After</th>
                  <th class="num">Score</th>
                  <th class="num">Feasible</th>
                </tr>
              </thead>
              <tbody>
                {shown.map((row) => {
                  const { placement, moved: other } = row;
                  const was = before(row);
                  return (
                  <tr key={`${placement.namespace}/${placement.name}`} class={other ? 'moved' : ''}>
                    <td class="name" title={kSource[placement.source ?? '']}>
                      <span class="ns">{placement.namespace}/</span>
                      {placement.name}
                    </td>
                    <td>
                      <OutcomeBadge outcome={placement.outcome} />
                    </td>
                    <td class="nowrap dim">
                      {was.text} {was.node === placement.node && was.node !== '' ? 'the same' : was.node}
                    </td>
                    <td class="nowrap">
                      {placement.node ? (
                        <>
                          {zoneOf(placement.node) !== '' || !base ? <NodeLink name={placement.node} /> : placement.node}{' '}
                          <span class="dim small">{zoneOf(placement.node)}</span>
                        </>
                      ) : (
                        <span class="dim">–</span>
                      )}
                    </td>
                    <td class="num">{placement.score === undefined ? <span class="dim">–</span> : count(placement.score)}</td>
                    <td class="num">{placement.feasible === undefined ? <span class="dim">–</span> : count(placement.feasible)}</td>
                  </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
          {rows.length > shown.length && (
            <div class="more">
              <button class="btn small" onClick={() => setAll(true)}>
                Show all {count(rows.length)}
              </button>
            </div>
          )}
        </Panel>
      )}
      {failed.length > 0 && (
        <Panel title="Why not" flush>
          <ul class="waiting">
            {grouped(failed).map(({ message, pods }) => (
              <li key={message}>
                <p>
                  <b>{plural(pods.length, 'pod')}</b> <span class="dim">{pods.slice(0, 3).join(', ')}{pods.length > 3 && ', …'}</span>
                </p>
                <p class="soft">{message}</p>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

function grouped(failed: WhatIfPlacement[]): { message: string; pods: string[] }[] {
  const groups = new Map<string, string[]>();
  for (const each of failed) {
    const pods = groups.get(each.message!) ?? [];
    pods.push(`${each.namespace}/${each.name}`);
    groups.set(each.message!, pods);
  }
  return [...groups].map(([message, pods]) => ({ message, pods }));
}

function Spread({ placements, zoneOf }: { placements: WhatIfPlacement[]; zoneOf: (node: string) => string }) {
  const nodes = perNode(placements);
  if (nodes.length === 0) return null;
  const zones = new Set(nodes.map((each) => zoneOf(each.node)).filter((zone) => zone !== ''));
  return (
    <>
      {plural(nodes.length, 'node')}
      {zones.size > 0 && ` in ${plural(zones.size, 'zone')}`}, at most {count(nodes[0].pods)} on one
    </>
  );
}

function Uses({ result }: { result: WhatIfResult }) {
  const rows = result.use.filter((each) => (each.allocatableAfter > 0 || each.allocatableBefore > 0) && each.resource !== 'ephemeral-storage');
  return (
    <table class="uses">
      <caption class="sr">Requested of all nodes, before and after</caption>
      <tbody>
        {rows.map((each) => {
          const before = each.allocatableBefore > 0 ? each.requestedBefore / each.allocatableBefore : 0;
          const after = each.allocatableAfter > 0 ? each.requestedAfter / each.allocatableAfter : 0;
          return (
            <tr key={each.resource}>
              <th scope="row">{each.resource}</th>
              <td class="uses-bar">
                <span class="bar two">
                  <i class="after" style={{ width: `${Math.min(1, Math.max(before, after)) * 100}%` }} />
                  <i style={{ width: `${Math.min(1, Math.min(before, after)) * 100}%` }} />
                </span>
              </td>
              <td class="num nowrap">
                {percent(before, 1)} → <b>{percent(after, 1)}</b>
              </td>
              <td class="num dim nowrap small">
                {amount(each.resource, each.requestedAfter)} of {amount(each.resource, each.allocatableAfter)}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
