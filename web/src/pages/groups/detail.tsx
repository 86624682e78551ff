// One pod group: whether it fits now, the best partial placement, who is in the way, and what would help.
import type { ComponentChildren } from 'preact';
import { segment } from '../../api/client';
import type { PodGroupView } from '../../api/types';
import { useApi } from '../../api/use';
import { ago, count, plural } from '../../lib/format';
import { useNow } from '../../lib/now';
import { href } from '../../lib/router';
import { Failure, Loading, NodeLink, OutcomeBadge, PageHead, Panel, PodLink, Stale } from '../../ui/parts';
import { Patch } from '../pending/page';
import { countMembers, domainShare } from './model';

const kMembers = 100;
const kStates: Record<string, string> = { Running: 'good', Scheduled: 'good', Waiting: 'warn', Incomplete: 'warn' };

export function StateBadge({ state }: { state: string }) {
  return <span class={`badge ${kStates[state] ?? ''}`}>{state}</span>;
}

export function GroupDetail({ namespace, name }: { namespace: string; name: string }) {
  const { data, error, reload } = useApi<PodGroupView>(`/podgroups/${segment(namespace)}/${segment(name)}`, {}, 5000);
  return (
    <div class="page">
      <PageHead
        title={
          <>
            <span class="ns">{namespace}/</span>
            {name}
          </>
        }
        lede={data ? <Lede view={data} /> : 'Pod group'}
      >
        <a class="btn" href={href('groups')}>
          All groups
        </a>
      </PageHead>
      <Stale error={data ? error : null} />
      {error && !data ? <Failure error={error} retry={reload} /> : !data ? <Loading height={420} /> : <Body view={data} />}
    </div>
  );
}

function Lede({ view }: { view: PodGroupView }) {
  const now = useNow();
  const { group } = view;
  return (
    <>
      {plural(group.pods, 'pod')}
      {group.workload && ` of ${group.workload}`}
      {group.createdAt && `, created ${ago(Date.parse(group.createdAt), now)}`}
      {group.profile && `, for ${group.profile}`}
    </>
  );
}

function Body({ view }: { view: PodGroupView }) {
  const waits = view.outcome !== undefined;
  const refused = waits && view.outcome !== 'Placed';
  return (
    <>
      <Summary view={view} />
      <div class="columns wide-first">
        <div class="stack">
          {refused && <BestPanel view={view} />}
          {(view.domains?.length ?? 0) > 0 && <DomainsPanel view={view} />}
          <MembersPanel view={view} />
        </div>
        <div class="stack">
          {refused && (
            <Panel title="What would help" flush>
              <HelpList view={view} />
            </Panel>
          )}
          {view.preemption && <PreemptionPanel view={view} />}
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

function Summary({ view }: { view: PodGroupView }) {
  const { group } = view;
  const message = view.outcome && view.outcome !== 'Placed' ? view.message : (view.message ?? '');
  return (
    <Panel label="State">
      <dl class="facts">
        <Fact name="State">
          <StateBadge state={group.state} />
        </Fact>
        <Fact name="Placed">
          {count(group.placed)} <span class="dim">of {plural(group.pods, 'pod')}</span>
        </Fact>
        <Fact name="Minimum">{group.minCount ? count(group.minCount) : <span class="dim">none</span>}</Fact>
        {view.outcome && (
          <Fact name="Now">
            <OutcomeBadge outcome={view.outcome} />
          </Fact>
        )}
        {group.topology && (
          <Fact name="In one">
            <code>{group.topology}</code>
          </Fact>
        )}
        {(group.priority ?? 0) !== 0 && <Fact name="Priority">{count(group.priority!)}</Fact>}
      </dl>
      {group.state === 'Incomplete' && group.minCount !== undefined && (
        <p class="message">{plural(group.minCount - group.pods, 'pod is', 'pods are')} missing: the group is not tried before they exist.</p>
      )}
      {message && <p class="message">{message}</p>}
    </Panel>
  );
}

function BestPanel({ view }: { view: PodGroupView }) {
  const waiting = view.group.pods - view.group.placed;
  return (
    <Panel title="At best" hint={`${count(view.needed)} needed`}>
      <p>
        <b>{count(view.best)}</b> of {plural(waiting, 'waiting pod')} would get a node at once
        {view.bestDomain && (
          <>
            , in <code>{view.bestDomain}</code>
          </>
        )}
        .
      </p>
      <span class="bar group-best" role="img" aria-label={`${view.best} of ${view.needed} needed`}>
        <i style={{ width: `${100 * Math.min(1, view.needed > 0 ? view.best / view.needed : 1)}%` }} />
      </span>
      {(view.bestNodes?.length ?? 0) > 0 && (
        <p class="soft small">
          {view.bestNodes!.map(({ node, pods }, i) => (
            <>
              {i > 0 && ', '}
              <NodeLink name={node} /> ({count(pods)})
            </>
          ))}
        </p>
      )}
      {(view.blockers?.length ?? 0) > 0 && (
        <>
          <h3 class="group-head">Who does not fit then, and why</h3>
          <ul class="why">
            {view.blockers!.map((blocker) => (
              <li key={blocker.message}>
                <b title="pods">{count(blocker.pods)}</b>
                <span>
                  {blocker.message}
                  <span class="dim small">
                    {' '}
                    {blocker.pod}
                    {blocker.pods > 1 && ` and ${count(blocker.pods - 1)} more`}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

function DomainsPanel({ view }: { view: PodGroupView }) {
  const domains = view.domains!;
  const all = view.domainCount ?? domains.length;
  const tried = view.domainsTried ?? all;
  return (
    <Panel
      flush
      title="By domain"
      hint={<code>{view.domainKey}</code>}
      note={tried < all ? `${count(tried)} of ${plural(all, 'domain')} tried` : domains.length < all ? `${count(domains.length)} of ${plural(all, 'domain')} shown` : undefined}
    >
      <div class="scroll">
        <table class="table group-domains">
          <thead>
            <tr>
              <th>Domain</th>
              <th class="num">Nodes</th>
              <th class="num">Pods that fit</th>
              <th>Of those needed</th>
            </tr>
          </thead>
          <tbody>
            {domains.map((domain) => (
              <tr key={domain.name}>
                <td class="name">{domain.name}</td>
                <td class="num">{count(domain.nodes)}</td>
                <td class="num">{count(domain.fits)}</td>
                <td>
                  <span class={`bar ${domain.enough ? '' : 'warn'}`} role="img" aria-label={domain.enough ? 'enough' : 'not enough'}>
                    <i style={{ width: `${100 * domainShare(domain, view.needed)}%` }} />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function MembersPanel({ view }: { view: PodGroupView }) {
  const counts = countMembers(view.members);
  const parts = [
    counts.placed > 0 && `${count(counts.placed)} placed`,
    counts.fits > 0 && `${count(counts.fits)} would fit`,
    counts.blocked > 0 && `${count(counts.blocked)} would not`,
    counts.other > 0 && `${count(counts.other)} not tried`,
  ].filter(Boolean);
  return (
    <Panel flush title="Pods" hint={parts.join(', ')} note={view.members.length > kMembers ? `${kMembers} of ${plural(view.members.length, 'pod')} shown` : undefined}>
      <div class="scroll">
        <table class="table">
          <thead>
            <tr>
              <th>Pod</th>
              <th>Outcome</th>
              <th>Node</th>
            </tr>
          </thead>
          <tbody>
            {view.members.slice(0, kMembers).map((member) => (
              <tr key={member.name}>
                <td class="name">
                  <PodLink namespace={view.group.namespace} name={member.name} />
                </td>
                <td>
                  <span class={`badge ${member.outcome === 'Placed' ? 'good' : member.outcome === 'Unschedulable' ? 'warn' : ''}`} title={member.message}>
                    {member.outcome === 'Fits' ? 'would fit' : member.outcome}
                  </span>
                </td>
                <td>{member.node || member.wouldGo ? <NodeLink name={(member.node || member.wouldGo)!} /> : <span class="dim">–</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function PreemptionPanel({ view }: { view: PodGroupView }) {
  return (
    <Panel title="Preemption for the group">
      <p>{view.preemption}</p>
      {(view.victims?.length ?? 0) > 0 && (
        <p class="soft">
          {view.victims!.slice(0, 20).map((victim, i) => {
            const [namespace, ...rest] = victim.split('/');
            return (
              <>
                {i > 0 && ', '}
                <PodLink key={victim} namespace={namespace} name={rest.join('/')} />
              </>
            );
          })}
        </p>
      )}
    </Panel>
  );
}

function HelpList({ view }: { view: PodGroupView }) {
  if (view.help.length === 0) return <p class="help-note">No change helps; {plural(view.tried ?? 0, 'cycle was', 'cycles were')} tried.</p>;
  return (
    <ul class="help">
      {view.help.map((item) => (
        <li key={item.kind + item.text}>
          <span class="badge good">helps</span>
          <div>
            <p>{item.text}</p>
            {item.patch && <Patch text={item.patch} />}
          </div>
        </li>
      ))}
      <li class="dim small tried">Each was tried on the cluster as it is; {plural(view.tried ?? 0, 'cycle')} in all.</li>
    </ul>
  );
}
