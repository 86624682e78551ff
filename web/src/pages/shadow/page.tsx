// Shadow: every decision of a running kube-scheduler beside berth's, by outcome, and the differences.
import { useState } from 'preact/hooks';
import { outcomeRows, isUnexplained, type Comparison, type ComparisonList, type ShadowOverview } from '../../api/shadow';
import { useApi } from '../../api/use';
import { clock, count, percent, plural, seconds } from '../../lib/format';
import { go, href, type Route } from '../../lib/router';
import { CheckIcon } from '../../ui/icons';
import { Empty, Failure, Loading, PageHead, Panel, Segmented, Stale } from '../../ui/parts';

const kPath = '/apis/shadow/v1';
const kShown = 200;

type Show = 'unexplained' | 'Race' | 'all';

export function ShadowPage({ route }: { route: Route }) {
  const { data, error, reload } = useApi<ShadowOverview>(`${kPath}/summary`, {}, 2000);
  if (error && !data) return <Failure error={error} retry={reload} />;
  return (
    <div class="page">
      <PageHead
        title="Shadow"
        lede={
          data
            ? `kube-scheduler ${data.status.kubernetesVersion} at ${data.status.server}, ${plural(data.status.nodes, 'node')}, followed for ${seconds(data.status.seconds)}${data.status.synced ? '' : ', listing'}`
            : 'Every decision of a running kube-scheduler beside berth’s'
        }
      />
      <Stale error={data ? error : null} />
      {!data ? (
        <Loading />
      ) : (
        <>
          <Tiles data={data} />
          <div class="columns">
            <Outcomes data={data} />
            <Common data={data} />
          </div>
          <Comparisons route={route} />
        </>
      )}
    </div>
  );
}

function Tiles({ data }: { data: ShadowOverview }) {
  const { summary, status } = data;
  const tiles = [
    { title: 'Compared', value: count(summary.compared), note: `${plural(summary.bound, 'pod')} bound` },
    { title: 'Unexplained', value: count(summary.unexplained), note: summary.unexplained === 0 ? 'both agree' : percent(summary.unexplained, summary.compared) },
    { title: 'Races', value: count(summary.outcomes.race ?? 0), note: `within ${seconds(status.lagSeconds)}` },
    { title: 'Open', value: count(status.open), note: 'wait for the lag window' },
    { title: 'Pending pods', value: count(status.pending), note: summary.unseen > 0 ? `${plural(summary.unseen, 'binding')} not seen` : 'without a node' },
  ];
  return (
    <dl class="tiles">
      {tiles.map((tile) => (
        <div class="tile" key={tile.title}>
          <dt>{tile.title}</dt>
          <dd>
            {tile.value} <small>{tile.note}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Outcomes({ data }: { data: ShadowOverview }) {
  return (
    <Panel title="Outcomes" hint="of every comparison" flush>
      <div class="scroll">
        <table class="table shadow-outcomes">
          <thead>
            <tr>
              <th>Outcome</th>
              <th class="num">Decisions</th>
              <th class="num">Share</th>
              <th>Meaning</th>
            </tr>
          </thead>
          <tbody>
            {outcomeRows(data.summary.outcomes).map((row) => (
              <tr key={row.outcome} class={row.count === 0 ? 'dim' : ''}>
                <td>
                  <span class={`badge ${row.tone}`}>{row.outcome}</span>
                </td>
                <td class="num">{count(row.count)}</td>
                <td class="num">{percent(row.count, data.summary.compared)}</td>
                <td class="soft">{row.meaning}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Common({ data }: { data: ShadowOverview }) {
  const lines = data.suspicions ?? [];
  return (
    <Panel title="What the differences have in common">
      {lines.length > 0 ? (
        <ul class="shadow-common">
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      ) : data.summary.unexplained > 0 ? (
        <p class="soft">Nothing was found that explains several of them.</p>
      ) : (
        <p class="soft">There are none.</p>
      )}
    </Panel>
  );
}

function Comparisons({ route }: { route: Route }) {
  const show: Show = route.query.show === 'Race' || route.query.show === 'all' ? route.query.show : 'unexplained';
  const search = route.query.q ?? '';
  const { data, error, reload } = useApi<ComparisonList>(
    `${kPath}/comparisons`,
    { outcome: show === 'all' ? undefined : show, search, limit: kShown },
    2000,
  );
  const items = data?.items ?? [];
  const change = (query: Record<string, string | undefined>) => go(href('shadow', [], { ...route.query, ...query }), true);
  return (
    <Panel
      title="Comparisons"
      hint="newest first"
      flush
      note={data && data.total > items.length ? `${count(items.length)} of ${count(data.total)} are shown` : undefined}
    >
      <div class="shadow-tools">
        <Segmented<Show>
          label="Which comparisons"
          value={show}
          options={[
            { value: 'unexplained', text: 'Unexplained' },
            { value: 'Race', text: 'Races' },
            { value: 'all', text: 'All' },
          ]}
          onChange={(value) => change({ show: value === 'unexplained' ? undefined : value })}
        />
        <input class="field" type="search" placeholder="Pod or node" aria-label="Filter by pod or node" value={search} onInput={(event) => change({ q: event.currentTarget.value })} />
      </div>
      {error && !data ? (
        <Failure error={error} retry={reload} />
      ) : !data ? (
        <Loading height={120} />
      ) : items.length === 0 ? (
        <Empty icon={<CheckIcon />} title={show === 'unexplained' && !search ? 'Nothing is unexplained' : 'None'}>
          <p>{show === 'unexplained' && !search ? 'Every decision was equal, or is explained.' : 'No comparison matches.'}</p>
        </Empty>
      ) : (
        <div class="scroll">
          <table class="table">
            <thead>
              <tr>
                <th>Time</th>
                <th>Pod</th>
                <th>Outcome</th>
                <th>Theirs</th>
                <th>berth</th>
                <th>Why</th>
              </tr>
            </thead>
            <tbody>
              {items.map((item) => (
                <Row key={`${item.uid} ${item.time} ${item.decision}`} item={item} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function tone(item: Comparison): string {
  return isUnexplained(item.outcome) ? 'bad' : item.outcome === 'Race' ? 'warn' : 'good';
}

function why(item: Comparison): string {
  if (item.explanation) return item.explanation;
  if (item.reason) return item.plugin ? `${item.plugin}: ${item.reason}` : item.reason;
  if (item.scores?.length) return item.scores.map((gap) => `${gap.plugin} ${gap.theirs} against ${gap.ours}`).join(', ');
  return item.theirMessage ?? '';
}

function Row({ item }: { item: Comparison }) {
  const [open, setOpen] = useState(false);
  const more = (item.scores?.length ?? 0) > 0 || !!item.theirMessage;
  return (
    <>
      <tr>
        <td class="nowrap">{clock(Date.parse(item.time))}</td>
        <td class="name">
          <span class="ns">{item.namespace}/</span>
          {item.name}
        </td>
        <td>
          <span class={`badge ${tone(item)}`}>{item.outcome}</span>
        </td>
        <td class="name">{item.theirNode || '–'}</td>
        <td class="name">{item.ourNode || '–'}</td>
        <td class="soft">
          {why(item)}{' '}
          {more && (
            <button class="btn small" aria-expanded={open} onClick={() => setOpen(!open)}>
              Details
            </button>
          )}
        </td>
      </tr>
      {open && (
        <tr>
          <td colSpan={6}>
            {(item.scores?.length ?? 0) > 0 && (
              <table class="table shadow-gaps">
                <thead>
                  <tr>
                    <th>Plugin</th>
                    <th class="num">Weight</th>
                    <th class="num">{item.theirNode}</th>
                    <th class="num">{item.ourNode}</th>
                  </tr>
                </thead>
                <tbody>
                  {item.scores!.map((gap) => (
                    <tr key={gap.plugin}>
                      <td>{gap.plugin}</td>
                      <td class="num">{gap.weight}</td>
                      <td class="num">{gap.theirs}</td>
                      <td class="num">{gap.ours}</td>
                    </tr>
                  ))}
                  <tr>
                    <td>Total of all plugins</td>
                    <td />
                    <td class="num">{item.theirTotal}</td>
                    <td class="num">{item.ourTotal}</td>
                  </tr>
                </tbody>
              </table>
            )}
            {item.theirMessage && <p class="soft">Their message: {item.theirMessage}</p>}
          </td>
        </tr>
      )}
    </>
  );
}
