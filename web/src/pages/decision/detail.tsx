// One decision: how the nodes became fewer, what the best ones scored, why the second lost, what the queue did.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { segment } from '../../api/client';
import type { Decision, DecisionSummary, Funnel, NodeScore, NodeVerdict, Preemption, QueuePlace, RunnerUp } from '../../api/types';
import { useApi } from '../../api/use';
import { ago, clock, count, plural, seconds } from '../../lib/format';
import { useNow } from '../../lib/now';
import { go, href, type Route } from '../../lib/router';
import { Failure, Loading, NodeLink, OutcomeBadge, PageHead, Panel, PodLink, Segmented, Stale } from '../../ui/parts';
import { Help } from '../pending/page';
import { pluginColumns, segments, splitFunnel } from './scores';

export function DecisionDetail({ namespace, name, route }: { namespace: string; name: string; route: Route }) {
  const node = route.query.node ?? '';
  const { data, error, reload } = useApi<Decision>(`/decisions/${segment(namespace)}/${segment(name)}`, { node, nodes: 12 }, 5000);
  return (
    <div class="page">
      <PageHead
        title={
          <>
            <span class="ns">{namespace}/</span>
            {name}
          </>
        }
        lede={data ? <Lede record={data.record} /> : 'Decision'}
      >
        <a class="btn" href={href('decisions')}>
          All decisions
        </a>
      </PageHead>
      <Stale error={data ? error : null} />
      {error && !data ? <Failure error={error} retry={reload} /> : !data ? <Loading height={420} /> : <Body decision={data} route={route} asked={node} />}
    </div>
  );
}

function Lede({ record }: { record: DecisionSummary }) {
  const now = useNow();
  const time = Date.parse(record.time);
  return (
    <>
      Decided at {clock(time)}, {ago(time, now)}, by {record.profile}
      {record.attempt > 1 && ` in attempt ${count(record.attempt)}`}
    </>
  );
}

function Body({ decision, route, asked }: { decision: Decision; route: Route; asked: string }) {
  const { record } = decision;
  const pending = record.outcome !== 'Scheduled' && !decision.podNode;
  return (
    <>
      <Summary decision={decision} />
      {decision.recomputed && (
        <div class="banner" role="note">
          <span>
            The cluster has changed since. Funnel and scores are worked out on the cluster as it is now
            {decision.present ? `; now the answer would be: ${decision.present.node ? `${decision.present.outcome} on ${decision.present.node}` : decision.present.outcome}.` : '.'}
          </span>
        </div>
      )}
      <div class="columns wide-first">
        <div class="stack">
          <FunnelPanel funnel={decision.funnel} />
          {decision.topNodes.length > 0 && <ScoresPanel nodes={decision.topNodes} />}
          {decision.preemption && <PreemptionPanel preemption={decision.preemption} />}
        </div>
        <div class="stack">
          {pending && (
            <Panel title="What would help" flush>
              <Help namespace={record.namespace} name={record.name} />
            </Panel>
          )}
          {decision.runnerUp && <RunnerUpPanel runnerUp={decision.runnerUp} tie={decision.tie?.count ?? 0} />}
          <Lookup verdict={decision.node} asked={asked} route={route} />
          <QueuePanel queue={decision.queue} />
          {decision.durationsMs && <Durations times={decision.durationsMs} />}
        </div>
      </div>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Summary({ decision }: { decision: Decision }) {
  const { record } = decision;
  return (
    <Panel label="Outcome">
      <dl class="facts">
        <Fact name="Outcome">
          <OutcomeBadge outcome={record.outcome} />
        </Fact>
        {record.node && (
          <Fact name="Node">
            <NodeLink name={record.node} />
          </Fact>
        )}
        {record.score !== undefined && <Fact name="Score">{count(record.score)}</Fact>}
        <Fact name="Feasible">
          {count(record.feasible)} <span class="dim">of {count(record.nodes)} nodes</span>
        </Fact>
        {(record.equal ?? 0) > 1 && (
          <Fact name="Equally good">
            {count(record.equal!)} <span class="dim">nodes, decided by lot</span>
          </Fact>
        )}
        {record.nominatedNode && (
          <Fact name="Nominated">
            <NodeLink name={record.nominatedNode} />
          </Fact>
        )}
        {decision.podNode && decision.podNode !== record.node && (
          <Fact name="Runs on">
            <NodeLink name={decision.podNode} />
          </Fact>
        )}
      </dl>
      {record.message && <p class="message">{record.message}</p>}
      {(record.victims?.length ?? 0) > 0 && (
        <p class="soft">
          Asked to go: {record.victims!.map((victim) => <PodText key={victim} text={victim} />)}
        </p>
      )}
    </Panel>
  );
}

function PodText({ text }: { text: string }) {
  const [namespace, ...rest] = text.split('/');
  return <PodLink namespace={namespace} name={rest.join('/')} />;
}

function FunnelPanel({ funnel }: { funnel: Funnel }) {
  const { refusing, passing, skipped } = splitFunnel(funnel.steps);
  const width = (n: number) => `${funnel.nodes > 0 ? (100 * n) / funnel.nodes : 0}%`;
  return (
    <Panel
      title="From all nodes to feasible ones"
      hint={
        <span class="keys">
          <span class="dot" style={{ background: 'var(--accent)' }} /> left <span class="dot funnel-lost" /> refused here
        </span>
      }
    >
      {funnel.nodes === 0 ? (
        <p class="dim">There were no nodes to look at.</p>
      ) : (
        <ol class="funnel">
          <li>
            <span class="funnel-name">All nodes</span>
            <span class="funnel-bar">
              <i style={{ width: '100%' }} />
            </span>
            <b class="num">{count(funnel.nodes)}</b>
          </li>
          {refusing.map(({ step, refused }) => (
            <li key={step.point + step.plugin}>
              <span class="funnel-name">
                {step.plugin} {step.point === 'PreFilter' && <span class="dim small">PreFilter</span>}
              </span>
              <span class="funnel-bar" role="img" aria-label={`${step.before} before, ${step.after} after`}>
                <i style={{ width: width(step.after) }} />
                <i class="funnel-lost" style={{ width: width(refused) }} />
              </span>
              <b class="num">{count(step.after)}</b>
              <ul class="funnel-why">
                {step.reasons.map((each) => (
                  <li key={each.reason} title={each.examples?.join(', ')}>
                    <span class="lost">−{count(each.nodes)}</span> {each.reason}
                    {each.code === 'UnschedulableAndUnresolvable' && <span class="dim small"> preemption cannot help</span>}
                    {(each.examples?.length ?? 0) > 0 && (
                      <span class="dim small">
                        {' '}
                        e.g. <NodeLink name={each.examples![0]} />
                      </span>
                    )}
                  </li>
                ))}
              </ul>
            </li>
          ))}
          <li class="funnel-end">
            <span class="funnel-name">Feasible</span>
            <span class="funnel-bar">
              <i class={funnel.feasible > 0 ? 'good' : ''} style={{ width: width(funnel.feasible) }} />
            </span>
            <b class="num">{count(funnel.feasible)}</b>
          </li>
        </ol>
      )}
      {(passing.length > 0 || skipped.length > 0) && (
        <p class="dim small passed">
          {passing.length > 0 && <>Let every node pass: {passing.join(', ')}. </>}
          {skipped.length > 0 && <>Had nothing to check: {skipped.join(', ')}.</>}
        </p>
      )}
    </Panel>
  );
}

function ScoresPanel({ nodes }: { nodes: NodeScore[] }) {
  const [mode, setMode] = useState<'all' | 'differences'>('all');
  const [open, setOpen] = useState('');
  const columns = pluginColumns(nodes);
  const differences = mode === 'differences';
  const bars = nodes.map((node) => ({ node, parts: segments(node, columns, differences) }));
  const longest = Math.max(1, ...bars.map(({ parts }) => parts.reduce((total, part) => total + part.points, 0)));
  return (
    <Panel
      title="Scores of the best nodes"
      hint={
        <Segmented
          label="Points shown"
          value={mode}
          options={[
            { value: 'all', text: 'All points' },
            { value: 'differences', text: 'Differences' },
          ]}
          onChange={setMode}
        />
      }
      note="Normalized score × weight, by plugin. Open a node for the numbers."
    >
      <ul class="keys plugin-keys">
        {columns.map((column, i) => (
          <li key={column.plugin} class={column.spread === 0 ? 'dim' : ''} title={column.spread === 0 ? 'the same on all these nodes' : `differs by up to ${column.spread} points`}>
            <span class="dot" style={{ background: `var(--cat-${i % 8})` }} />
            {column.plugin} <span class="dim">×{column.weight}</span>
          </li>
        ))}
      </ul>
      {differences && columns.every((column) => column.spread === 0) && <p class="soft">These nodes do not differ: each plugin gave them the same.</p>}
      <ol class="scores">
        {bars.map(({ node, parts }) => (
          <li key={node.node} class={node.chosen ? 'chosen' : ''}>
            <button class="score-row" aria-expanded={open === node.node} onClick={() => setOpen(open === node.node ? '' : node.node)}>
              <span class="rank">{node.rank}</span>
              <span class="score-name">
                {node.node}
                {node.chosen && <span class="badge good">chosen</span>}
              </span>
              <span class="score-bar" aria-hidden="true">
                {parts.map((part) =>
                  part.points > 0 ? (
                    <i
                      key={part.plugin}
                      title={`${part.plugin}: ${part.points}`}
                      style={{ width: `${(100 * part.points) / longest}%`, background: `var(--cat-${part.color % 8})` }}
                    />
                  ) : null,
                )}
              </span>
              <b class="num">{count(node.total)}</b>
            </button>
            {open === node.node && (
              <>
                <ScoreTable node={node} />
                <p class="small score-more">
                  <NodeLink name={node.node} /> in the cluster
                </p>
              </>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function ScoreTable({ node }: { node: NodeScore }) {
  return (
    <div class="scroll score-table">
      <table class="table">
        <thead>
          <tr>
            <th>Plugin</th>
            <th class="num">Raw</th>
            <th class="num">Normalized</th>
            <th class="num">Weight</th>
            <th class="num">Points</th>
          </tr>
        </thead>
        <tbody>
          {node.scores.map((score) => (
            <tr key={score.plugin}>
              <td>{score.plugin}</td>
              <td class="num soft">{count(score.raw)}</td>
              <td class="num soft">{count(score.normalized)}</td>
              <td class="num soft">{count(score.weight)}</td>
              <td class="num">
                <b>{count(score.weighted)}</b>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RunnerUpPanel({ runnerUp, tie }: { runnerUp: RunnerUp; tie: number }) {
  const differing = runnerUp.differences.filter((each) => each.difference !== 0);
  const most = Math.max(1, ...differing.map((each) => Math.abs(each.difference)));
  return (
    <Panel title="Why the runner-up lost" hint={<NodeLink name={runnerUp.node} />}>
      <p>{runnerUp.text}</p>
      {tie > 1 && runnerUp.behind === 0 && <p class="soft small">{count(tie)} nodes share the highest total.</p>}
      {differing.length > 0 && (
        <table class="versus">
          <caption class="sr">Points by plugin, the chosen node against the runner-up</caption>
          <tbody>
            {differing.map((each) => (
              <tr key={each.plugin}>
                <th scope="row">{each.plugin}</th>
                <td class="num soft nowrap">
                  {count(each.chosen)} : {count(each.runnerUp)}
                </td>
                <td class="versus-bar">
                  <span>{each.difference < 0 && <i class="minus" style={{ width: `${(100 * -each.difference) / most}%` }} />}</span>
                  <span>{each.difference > 0 && <i style={{ width: `${(100 * each.difference) / most}%` }} />}</span>
                </td>
                <td class="num">
                  <b>{each.difference > 0 ? `+${each.difference}` : `−${-each.difference}`}</b>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function Lookup({ verdict, asked, route }: { verdict?: NodeVerdict; asked: string; route: Route }) {
  const [text, setText] = useState(asked);
  return (
    <Panel title="Ask about one node">
      <form
        class="lookup"
        onSubmit={(event) => {
          event.preventDefault();
          go(href('decisions', route.args, { ...route.query, node: text.trim() }), true);
        }}
      >
        <input class="field" placeholder="Name of a node" aria-label="Name of a node" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <button class="btn">Ask</button>
      </form>
      {asked !== '' && !verdict && <p class="soft verdict">No such node: {asked}</p>}
      {verdict && (
        <div class="verdict" role="status">
          <p>
            <span class={`badge ${verdict.fits ? 'good' : 'warn'}`}>{verdict.fits ? 'fits' : 'refused'}</span> <NodeLink name={verdict.node} />
            {verdict.plugin && <span class="dim"> by {verdict.plugin}</span>}
            {verdict.score && (
              <span class="dim">
                , {count(verdict.score.total)} points, rank {count(verdict.score.rank)}
              </span>
            )}
          </p>
          {verdict.reasons?.map((reason) => <p key={reason}>{reason}</p>)}
          {verdict.code === 'UnschedulableAndUnresolvable' && <p class="dim small">Evicting pods from it would not help.</p>}
          {verdict.score && <ScoreTable node={verdict.score} />}
        </div>
      )}
    </Panel>
  );
}

function PreemptionPanel({ preemption }: { preemption: Preemption }) {
  return (
    <Panel title="Preemption" flush note={preemption.message}>
      {preemption.candidates.length === 0 ? (
        <p class="panel-body dim">No node would become free by evicting pods of lower priority.</p>
      ) : (
        <div class="scroll">
          <table class="table">
            <thead>
              <tr>
                <th>Node</th>
                <th>Pods that would go</th>
                <th class="num">Breaks PDBs</th>
                <th>Result</th>
              </tr>
            </thead>
            <tbody>
              {preemption.candidates.map((each) => (
                <tr key={each.node}>
                  <td class="nowrap">
                    <NodeLink name={each.node} />
                  </td>
                  <td>
                    {each.victims.map((victim) => (
                      <div key={`${victim.namespace}/${victim.name}`}>
                        <PodLink namespace={victim.namespace} name={victim.name} />
                        <span class="dim small"> priority {count(victim.priority)}</span>
                        {victim.violatesPdb && <span class="badge bad">{victim.pdbs?.join(', ') || 'PDB'}</span>}
                      </div>
                    ))}
                  </td>
                  <td class="num">{count(each.pdbViolations)}</td>
                  <td>{each.chosen ? <span class="badge good">chosen</span> : <span class="soft">{each.lost}</span>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function QueuePanel({ queue }: { queue: QueuePlace }) {
  return (
    <Panel title="In the queue" hint={queue.where}>
      <dl class="kv">
        <dt>Attempts</dt>
        <dd>{count(queue.attempts)}</dd>
        {queue.backoffUntil && (
          <>
            <dt>Backs off until</dt>
            <dd>{clock(Date.parse(queue.backoffUntil))}</dd>
          </>
        )}
        {queue.gatedBy && (
          <>
            <dt>Gated by</dt>
            <dd>{queue.gatedBy}</dd>
          </>
        )}
        {(queue.waitsFor?.length ?? 0) > 0 && (
          <>
            <dt>Waits for events of</dt>
            <dd>{queue.waitsFor!.join(', ')}</dd>
          </>
        )}
      </dl>
      {queue.history.length > 0 && (
        <ol class="history">
          {queue.history.slice(0, 12).map((move, i) => (
            <li key={i}>
              <time class="dim">{clock(Date.parse(move.time))}</time>
              <div>
                <p>
                  {move.from && <span class="soft">{move.from} → </span>}
                  <b>{move.to}</b> <span class="dim small">{move.event}</span>
                </p>
                {(move.hints?.length ?? 0) > 0 && (
                  <p class="dim small">{move.hints!.map((hint) => `${hint.plugin} says ${hint.says}`).join(', ')}</p>
                )}
              </div>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

// In the order of the cycle; objects come sorted by name.
const POINTS = ['PreFilter', 'Filter', 'PostFilter', 'PreScore', 'Score', 'Reserve', 'Permit', 'PreBind', 'Bind', 'PostBind', 'Unreserve'];

function Durations({ times }: { times: Record<string, number> }) {
  const rows = Object.entries(times).sort(([a], [b]) => POINTS.indexOf(a) - POINTS.indexOf(b));
  const most = Math.max(...rows.map(([, ms]) => ms), 1e-9);
  return (
    <Panel title="Time taken" hint={plural(rows.length, 'extension point')}>
      <table class="durations">
        <tbody>
          {rows.map(([point, ms]) => (
            <tr key={point}>
              <th scope="row">{point}</th>
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
    </Panel>
  );
}
