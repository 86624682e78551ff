// The answer: figures, the nodes before and after, pods that move and pods without a place.
import { useState } from 'preact/hooks';
import type { MappedPlan, PlanNode, PlanStep } from '../../api/types';
import { count, plural } from '../../lib/format';
import { CheckIcon } from '../../ui/icons';
import { Empty, NodeLink, Panel } from '../../ui/parts';
import { groups, heat, isGone, isThere, works } from './model';

const kShown = 100;

export function Results({ answer }: { answer: MappedPlan }) {
  const { plan } = answer;
  const nodes = answer.nodes ?? [];
  const steps = plan.pods ?? [];
  const good = works(answer);
  const problems = steps.filter((step) => !step.to);
  const moves = steps.filter((step) => step.to);
  const figures: [string, number, string?][] = [
    ['Pods move', plan.moves],
    ['Homeless', plan.homeless, 'is-bad'],
    ['Blocked', plan.blocked, 'is-warn'],
    ['Lost', plan.lost, 'is-bad'],
    ['Preempted', plan.preempted, 'is-warn'],
  ];
  return (
    <>
      <Panel label="Result">
        <p class={`verdict ${good ? '' : 'is-bad'}`}>{good ? 'Every pod has a place.' : 'Not every pod has a place.'}</p>
        <dl class="facts figures">
          <div>
            <dt>Nodes</dt>
            <dd>
              {count(plan.nodesAfter)} {plan.nodesAfter !== plan.nodesBefore && <span class="dim">was {count(plan.nodesBefore)}</span>}
            </dd>
          </div>
          {figures
            .filter(([, value], at) => at === 0 || value > 0)
            .map(([name, value, tone]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd class={tone ?? ''}>{count(value)}</dd>
              </div>
            ))}
          {(plan.excessBefore ?? 0) > 0 && (
            <div>
              <dt>Pods beyond constraints</dt>
              <dd>
                {count(plan.excessAfter ?? 0)} <span class="dim">was {count(plan.excessBefore!)}</span>
              </dd>
            </div>
          )}
        </dl>
        {plan.assumptions?.map((note) => (
          <p key={note} class="soft small">
            Assumed: {note}
          </p>
        ))}
        {plan.warnings?.map((note) => (
          <p key={note} class="soft small">
            Warning: {note}
          </p>
        ))}
      </Panel>
      <Panel title="Nodes" hint="as full as cpu or memory is requested" note={<Legend nodes={nodes} />}>
        <div class="plan-maps">
          <Map title="Before" nodes={nodes} after={false} />
          <Map title="After" nodes={nodes} after={true} />
        </div>
      </Panel>
      {problems.length > 0 && <Problems steps={problems} />}
      {plan.budgets && plan.budgets.length > 0 && (
        <Panel title="Disruption budgets that refuse">
          <ul class="plain">
            {plan.budgets.map((budget) => (
              <li key={`${budget.namespace}/${budget.name}`}>
                {budget.namespace}/{budget.name}: {plural(budget.refused, 'eviction')} refused, {count(budget.healthy)} healthy, {count(budget.desired)} required
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {moves.length > 0 ? (
        <Moves steps={moves} />
      ) : (
        problems.length === 0 && (
          <div class="panel">
            <Empty icon={<CheckIcon />} title="No pod moves" />
          </div>
        )
      )}
    </>
  );
}

function Legend({ nodes }: { nodes: PlanNode[] }) {
  const changes = new Set(nodes.map((node) => node.change));
  return (
    <span class="chips small soft">
      {(changes.has('Freed') || changes.has('Lost')) && (
        <span>
          <i class="plan-cell is-gone" /> freed or lost
        </span>
      )}
      {changes.has('Kept') && (
        <span>
          <i class="plan-cell is-kept" /> not freed: pods remain on it
        </span>
      )}
      {changes.has('Added') && (
        <span>
          <i class="plan-cell is-new" /> added
        </span>
      )}
      <span>
        <i class="plan-cell heat-1" /> <i class="plan-cell heat-5" /> <i class="plan-cell heat-9" /> emptier to fuller
      </span>
    </span>
  );
}

function Map({ title, nodes, after }: { title: string; nodes: PlanNode[]; after: boolean }) {
  return (
    <div>
      <h3>{title}</h3>
      {groups(nodes).map((group) => {
        const there = group.nodes.filter((node) => isThere(node, after));
        return (
          <div key={group.name} class="plan-group">
            <p class="small">
              {group.name} <span class="dim">{plural(there.length, 'node')}</span>
            </p>
            <div class="plan-cells" role="img" aria-label={`${title}: ${group.name}, ${plural(there.length, 'node')}`}>
              {group.nodes.filter((node) => isThere(node, after) || (after && isGone(node))).map((node) => <Cell key={node.name} node={node} after={after} />)}
            </div>
          </div>
        );
      })}
    </div>
  );
}

function Cell({ node, after }: { node: PlanNode; after: boolean }) {
  const full = after ? node.percentAfter : node.percentBefore;
  const pods = after ? node.podsAfter : node.podsBefore;
  const gone = after && isGone(node);
  const mark = gone ? 'is-gone' : node.change === 'Kept' ? 'is-kept' : node.change === 'Added' ? 'is-new' : '';
  return <i class={`plan-cell ${mark} ${gone ? '' : `heat-${heat(full)}`}`} title={`${node.name}: ${gone ? node.change!.toLowerCase() : `${Math.round(full)}% requested, ${plural(pods, 'pod')}`}`} />;
}

function Problems({ steps }: { steps: PlanStep[] }) {
  return (
    <Panel flush title="Pods without a place">
      <div class="scroll">
        <table class="table">
          <thead>
            <tr>
              <th>Pod</th>
              <th>Outcome</th>
              <th>Why</th>
            </tr>
          </thead>
          <tbody>
            {steps.slice(0, kShown).map((step) => (
              <tr key={`${step.namespace}/${step.name}`}>
                <td class="name">
                  <span class="ns">{step.namespace}/</span>
                  {step.name}
                </td>
                <td>
                  <span class={`badge ${step.outcome === 'Blocked' ? 'warn' : 'bad'}`}>{step.outcome}</span>
                </td>
                <td class="why">{step.message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Moves({ steps }: { steps: PlanStep[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? steps : steps.slice(0, kShown);
  return (
    <Panel flush title="Pods that move, in order">
      <div class="scroll">
        <table class="table">
          <thead>
            <tr>
              <th>Pod</th>
              <th>From</th>
              <th>To</th>
              <th class="num" title="Nodes that share the highest score: the scheduler may choose another of them">
                Equal
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((step) => (
              <tr key={`${step.namespace}/${step.name}`}>
                <td class="name">
                  <span class="ns">{step.namespace}/</span>
                  {step.name}
                </td>
                <td class="nowrap dim">{step.from ? <NodeLink name={step.from} /> : 'pending'}</td>
                <td class="nowrap">{step.to}</td>
                <td class="num">{count(step.equalNodes ?? 1)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < steps.length && (
        <button class="btn plain small" onClick={() => setAll(true)}>
          Show all {count(steps.length)}
        </button>
      )}
    </Panel>
  );
}
