// Cluster: how full every node is, by zone; a node opens beside the map.
import { useMemo, useState } from 'preact/hooks';
import type { NodeTable } from '../../api/types';
import { useApi } from '../../api/use';
import { amount, count, percent, plural } from '../../lib/format';
import { parseQuantity } from '../../lib/quantity';
import { go, href, type Route } from '../../lib/router';
import { ClusterIcon } from '../../ui/icons';
import { Empty, Failure, Loading, PageHead, Panel, Segmented, Stale, UseBar } from '../../ui/parts';
import { fitsCluster, histogram, kBusiest, kindsOf, kKinds, kSteps, resourcesOf, shareOf, sum, useOf, zonesOf, type Kind, type Kinds, type Order } from './heat';
import { kHues, ZoneMap } from './map';
import { kSizes, NodePanel } from './node';
import { NodesTable } from './table';

const kGroups: Record<Kind, string> = { zone: 'By zone', pool: 'By pool', taint: 'By taint', state: 'By state' };
const kText: Record<string, string> = { pools: 'Pool', taints: 'Taint', states: 'State',  busiest: 'Busiest', cpu: 'CPU', memory: 'Memory', pods: 'Pods' };
const short = (resource: string) => kText[resource] ?? resource;

export function ClusterPage({ route }: { route: Route }) {
  const [large, setLarge] = useState(false);
  const { data, error, reload } = useApi<NodeTable>('/nodes', {}, large ? 5000 : 2000);
  if (data && data.count > 1000 !== large) setLarge(data.count > 1000);
  const open = route.args[0] ?? '';
  return (
    <div class="page">
      <PageHead title="Cluster" lede={data ? `${plural(data.count, 'node')} in ${plural(data.zones.length, 'zone')}` : 'How full every node is'} />
      <Stale error={data ? error : null} />
      {error && !data ? (
        <Failure error={error} retry={reload} />
      ) : !data ? (
        <Loading height={420} />
      ) : data.count === 0 ? (
        <div class="panel">
          <Empty icon={<ClusterIcon />} title="No nodes yet">
            <p>Nodes appear here as soon as the scheduler knows them.</p>
          </Empty>
        </div>
      ) : (
        <Nodes table={data} route={route} open={open} />
      )}
    </div>
  );
}

function Nodes({ table, route, open }: { table: NodeTable; route: Route; open: string }) {
  const resources = useMemo(() => resourcesOf(table), [table]);
  const asked = route.query.by ?? 'cpu';
  const colour = kKinds.find((kind) => `${kind}s` === asked && kind !== 'zone'); // pools, taints, states
  const by = colour ? 'cpu' : asked;
  const group = kKinds.find((kind) => kind === route.query.group) ?? 'zone';
  const order: Order = route.query.order === 'use' ? 'use' : 'name';
  const view = route.query.view === 'table' ? 'table' : 'map';
  const filter = (route.query.q ?? '').toLowerCase();
  const change = (query: Record<string, string | undefined>) => go(href('cluster', route.args, { ...route.query, ...query }), true);
  const use = useMemo(() => useOf(table, by), [table, by]);
  const zones = useMemo(() => zonesOf(table, use, order, group), [table, use, order, group]);
  const kinds = useMemo(() => (colour ? kindsOf(table, colour) : null), [table, colour]);
  const [hover, setHover] = useState<{ row: number; at: DOMRect } | null>(null);
  const selected = open === '' ? -1 : table.name.indexOf(open);
  const cordoned = (row: number) => table.schedulable[row] === 0;
  const unready = (row: number) => table.ready?.[row] === 0;
  const tainted = (row: number) => (table.taints?.[table.taint?.[row] ?? -1] ?? '') !== '';
  const pool = (row: number) => table.pools?.[table.pool?.[row] ?? -1] ?? '';
  const matches = (row: number) => filter === '' || table.name[row].toLowerCase().includes(filter);
  const show = (row: number) => go(href('cluster', [table.name[row]], route.query));
  // Storage is offered when somebody asks for it.
  const options = [kBusiest, ...resources.filter((each) => each !== 'ephemeral-storage' || each === by || sum(table.requested[each]) > 0), ...kKinds.filter((kind) => kind !== 'zone' && kindsOf(table, kind).names.length > 1).map((kind) => `${kind}s`)];
  const describe = (row: number) => {
    const parts = resources.slice(0, 4).map((each) => `${short(each)} ${percent(table.requested[each]?.[row] ?? 0, table.allocatable[each]?.[row] ?? 0)}`);
    return [table.name[row], ...parts, pool(row) && `pool ${pool(row)}`, cordoned(row) ? 'cordoned' : '', unready(row) ? 'not ready' : '', tainted(row) ? `tainted ${table.taints![table.taint![row]]}` : ''].filter((part) => part !== '').join(', ');
  };
  return (
    <>
      <Totals table={table} resources={resources} />
      <div class={open === '' ? 'cluster' : 'cluster with-node'}>
        <Panel
          flush
          label="Nodes"
          title={
            <span class="map-tools">
              {options.length <= 4 ? (
                <Segmented label="Colour by" value={asked} options={options.map((each) => ({ value: each, text: short(each) }))} onChange={(value) => change({ by: value })} />
              ) : (
                <select class="field" aria-label="Colour by" value={asked} onChange={(event) => change({ by: event.currentTarget.value })}>
                  {options.map((each) => (
                    <option key={each} value={each}>
                      {short(each)}
                    </option>
                  ))}
                </select>
              )}
              <Segmented
                label="View"
                value={view}
                options={[
                  { value: 'map', text: 'Map' },
                  { value: 'table', text: 'Table' },
                ]}
                onChange={(value) => change({ view: value === 'map' ? undefined : value })}
              />
              {view === 'map' && (
                <Segmented
                  label="Order"
                  value={order}
                  options={[
                    { value: 'name', text: 'By name' },
                    { value: 'use', text: 'By use' },
                  ]}
                  onChange={(value) => change({ order: value === 'name' ? undefined : value })}
                />
              )}
              {view === 'map' && (
                <select class="field" aria-label="Group by" value={group} onChange={(event) => change({ group: event.currentTarget.value === 'zone' ? undefined : event.currentTarget.value })}>
                  {kKinds.map((kind) => (
                    <option key={kind} value={kind}>
                      {kGroups[kind]}
                    </option>
                  ))}
                </select>
              )}
              <input
                class="field find"
                type="search"
                placeholder="Find a node"
                aria-label="Find a node"
                value={route.query.q ?? ''}
                onInput={(event) => change({ q: event.currentTarget.value })}
                onKeyDown={(event) => {
                  const first = table.name.findIndex((_, row) => matches(row));
                  if (event.key === 'Enter' && filter !== '' && first >= 0) show(first);
                }}
              />
            </span>
          }
          hint={view === 'map' && (kinds ? <KindLegend kinds={kinds} /> : <Legend use={use} />)}
        >
          {view === 'table' ? (
            <NodesTable table={table} resources={resources} matches={matches} selected={selected} onOpen={show} />
          ) : (
            <div class="zones">
              {zones.map((zone) => {
                const share = shareOf(table, zone, use, by);
                return (
                  <section key={zone.name} class="zone" aria-label={`${kGroups[group].slice(3)} ${zone.name || 'none'}`}>
                    <header>
                      <h3>{zone.name || `no ${group}`}</h3>
                      <span class="dim small">
                        {plural(zone.nodes.length, 'node')}, {Number.isNaN(share) ? '–' : percent(share, 1)} {by === kBusiest ? 'of the busiest, on average' : `${short(by)} requested`}
                      </span>
                    </header>
                    <ZoneMap
                      zone={zone}
                      largest={Math.max(...zones.map((each) => each.nodes.length))}
                      use={use}
                      cordoned={cordoned}
                      unready={unready}
                      tainted={tainted}
                      colours={kinds?.of ?? null}
                      dimmed={(row) => !matches(row)}
                      selected={selected}
                      describe={describe}
                      filter={filter}
                      onHover={(row, at) => setHover((old) => (row < 0 || !at ? null : old?.row === row ? old : { row, at }))}
                      onOpen={show}
                    />
                  </section>
                );
              })}
            </div>
          )}
        </Panel>
        {open !== '' && (
          <NodePanel key={open} name={open} onClose={() => go(href('cluster', [], route.query))} />
        )}
      </div>
      <Capacity table={table} resources={resources} />
      {hover && view === 'map' && hover.row < table.count && (
        <Tip at={hover.at}>
          <b>{table.name[hover.row]}</b>
          <dl>
            {resources.slice(0, 6).map((each) => (
              <>
                <dt>{short(each)}</dt>
                <dd>
                  {amount(each, table.requested[each][hover.row])} / {amount(each, table.allocatable[each][hover.row])}{' '}
                  <b>{percent(table.requested[each][hover.row], table.allocatable[each][hover.row])}</b>
                </dd>
              </>
            ))}
          </dl>
          {cordoned(hover.row) && <span class="badge warn">cordoned</span>}
          {unready(hover.row) && <span class="badge bad">not ready</span>}
          {pool(hover.row) && <span class="dim">pool {pool(hover.row)}</span>} {tainted(hover.row) && <span class="dim">{table.taints![table.taint![hover.row]]}</span>}
        </Tip>
      )}
    </>
  );
}

function Totals({ table, resources }: { table: NodeTable; resources: string[] }) {
  const closed = table.schedulable.filter((each) => each === 0).length;
  return (
    <dl class="tiles">
      <div class="tile">
        <dt>Nodes</dt>
        <dd>{count(table.count)}</dd>
        <p>{closed === 0 ? 'all schedulable' : `${count(closed)} cordoned`}</p>
      </div>
      {resources
        .filter((each) => each !== 'ephemeral-storage')
        .slice(0, 5)
        .map((each) => {
          const requested = sum(table.requested[each]);
          const allocatable = sum(table.allocatable[each]);
          return (
            <div class="tile" key={each}>
              <dt>{short(each)}</dt>
              <dd>
                {percent(requested, allocatable)}
                <small>requested</small>
              </dd>
              <UseBar part={requested} whole={allocatable} />
              <p>
                {amount(each, requested)} of {amount(each, allocatable)}
              </p>
            </div>
          );
        })}
    </dl>
  );
}

// Zones side by side, and how many pods of common sizes the free room takes.
function Capacity({ table, resources }: { table: NodeTable; resources: string[] }) {
  const shown = resources.filter((each) => each !== 'ephemeral-storage').slice(0, 4);
  const zones = useMemo(() => {
    const rows = table.zones.map((name) => ({ name, nodes: 0, requested: shown.map(() => 0), allocatable: shown.map(() => 0) }));
    for (let i = 0; i < table.count; i++) {
      const row = rows[table.zone[i]];
      if (!row) continue;
      row.nodes++;
      shown.forEach((resource, k) => {
        row.requested[k] += table.requested[resource][i];
        row.allocatable[k] += table.allocatable[resource][i];
      });
    }
    return rows.filter((row) => row.nodes > 0);
  }, [table]);
  const sizes = useMemo(() => kSizes.map((size) => ({ size, ...fitsCluster(table, { cpu: parseQuantity(size.cpu)! * 1000, memory: parseQuantity(size.memory)! }) })), [table]);
  const open = table.schedulable.filter((each) => each !== 0).length;
  return (
    <div class="columns wide-first">
      <Panel title="Zones" flush>
        <div class="scroll">
          <table class="table">
            <thead>
              <tr>
                <th>Zone</th>
                <th class="num">Nodes</th>
                {shown.map((each) => (
                  <th key={each} class="num">
                    {short(each)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {zones.map((zone) => (
                <tr key={zone.name}>
                  <td class="nowrap">{zone.name || 'no zone'}</td>
                  <td class="num">{count(zone.nodes)}</td>
                  {shown.map((each, k) => (
                    <td key={each} class="num zone-use">
                      {zone.allocatable[k] > 0 ? (
                        <>
                          {percent(zone.requested[k], zone.allocatable[k])}
                          <UseBar part={zone.requested[k]} whole={zone.allocatable[k]} />
                        </>
                      ) : (
                        <span class="dim">–</span>
                      )}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
      <Panel title="What still fits" hint="by resources alone" flush>
        <table class="table capacity">
          <thead>
            <tr>
              <th>Size of a pod</th>
              <th class="num">More pods</th>
              <th class="num">Nodes with room</th>
            </tr>
          </thead>
          <tbody>
            {sizes.map(({ size, pods, nodes }) => (
              <tr key={size.cpu}>
                <td class="nowrap">
                  {size.cpu} cpu <span class="dim">·</span> {size.memory}
                </td>
                <td class="num">
                  <b>{count(pods)}</b>
                </td>
                <td class="num">
                  {count(nodes)} <span class="dim">of {count(open)}</span>
                  <UseBar plain part={nodes} whole={open} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
    </div>
  );
}

// The scale, and above it how many nodes are in each step.
function Legend({ use }: { use: Float64Array }) {
  const counts = histogram(use);
  const top = Math.max(1, ...counts);
  return (
    <div class="legend" role="img" aria-label={`Nodes by use: ${counts.map((n, i) => `${i * 10} to ${(i + 1) * 10} percent ${n}`).join(', ')}`}>
      <span>0%</span>
      <ol>
        {counts.map((n, i) => (
          <li key={i} title={`${i * 10}–${(i + 1) * 10}%: ${plural(n, 'node')}`}>
            <i style={{ height: `${n === 0 ? 0 : 2 + (n / top) * 16}px` }} />
            <b style={{ background: `var(--heat-${i % kSteps})` }} />
          </li>
        ))}
      </ol>
      <span>100%</span>
      <span class="mark">
        <svg viewBox="0 0 12 12" aria-hidden="true">
          <rect width="12" height="12" rx="2.5" fill="var(--heat-1)" />
          <path d="M2.5 9.5l7-7" stroke="var(--ink-3)" stroke-width="1.5" />
        </svg>
        cordoned
      </span>
      <span class="mark">
        <svg viewBox="0 0 12 12" aria-hidden="true">
          <rect width="12" height="12" rx="2.5" fill="var(--heat-1)" />
          <circle cx="9" cy="3" r="1.7" fill="var(--ink-3)" />
        </svg>
        tainted
      </span>
    </div>
  );
}

// The kinds and their colours; a kind beyond the eighth shares one.
function KindLegend({ kinds }: { kinds: Kinds }) {
  const counts = kinds.names.map((_, kind) => kinds.of.filter((each) => each === kind).length);
  return (
    <ul class="kinds">
      {kinds.names.map((name, kind) =>
        counts[kind] === 0 ? null : (
          <li key={name}>
            <i style={{ background: `var(--cat-${kind % kHues})` }} />
            {name || 'none'} <span class="dim">{count(counts[kind])}</span>
          </li>
        ),
      )}
    </ul>
  );
}

function Tip({ at, children }: { at: DOMRect; children: preact.ComponentChildren }) {
  const below = at.bottom + 180 < window.innerHeight;
  const left = Math.max(8, Math.min(at.left, window.innerWidth - 300));
  return (
    <div class="tip" role="presentation" style={below ? { left: `${left}px`, top: `${at.bottom + 8}px` } : { left: `${left}px`, bottom: `${window.innerHeight - at.top + 8}px` }}>
      {children}
    </div>
  );
}
