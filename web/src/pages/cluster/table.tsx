// The nodes as a table: what the map shows, in words and numbers.
import { useMemo, useState } from 'preact/hooks';
import type { NodeTable } from '../../api/types';
import { amount, count, percent } from '../../lib/format';
import { Empty, UseBar } from '../../ui/parts';

const kPage = 100;

export function NodesTable(props: {
  table: NodeTable;
  resources: string[];
  matches: (row: number) => boolean;
  selected: number;
  onOpen: (row: number) => void;
}) {
  const { table } = props;
  const columns = props.resources.filter((each) => each !== 'ephemeral-storage').slice(0, 4);
  const [sort, setSort] = useState<{ by: string; down: boolean }>({ by: 'name', down: false });
  const [shown, setShown] = useState(kPage);
  const share = (resource: string, row: number) => {
    const whole = table.allocatable[resource][row];
    return whole > 0 ? table.requested[resource][row] / whole : -1;
  };
  const rows = useMemo(() => {
    const compare = new Intl.Collator('en', { numeric: true }).compare;
    const list = [...table.name.keys()].filter(props.matches);
    list.sort((a, b) => {
      const order = sort.by === 'name' ? compare(table.name[a], table.name[b]) : sort.by === 'zone' ? table.zone[a] - table.zone[b] : share(sort.by, a) - share(sort.by, b);
      return sort.down ? -order : order;
    });
    return list;
  }, [table, sort, props.matches]);
  const Head = ({ id, text, num }: { id: string; text: string; num?: boolean }) => (
    <th class={num ? 'num' : ''} aria-sort={sort.by === id ? (sort.down ? 'descending' : 'ascending') : undefined}>
      <button onClick={() => setSort({ by: id, down: sort.by === id ? !sort.down : num === true })}>
        {text} {sort.by === id ? (sort.down ? '↓' : '↑') : ''}
      </button>
    </th>
  );
  if (rows.length === 0) return <Empty title="No node has that name" />;
  return (
    <div class="scroll">
      <table class="table">
        <thead>
          <tr>
            <Head id="name" text="Node" />
            <Head id="zone" text="Zone" />
            {columns.map((each) => (
              <Head key={each} id={each} text={each} num />
            ))}
            <th>State</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map((row) => (
            <tr key={table.name[row]} aria-selected={row === props.selected}>
              <td class="name">
                <a
                  href={`#/cluster/${encodeURIComponent(table.name[row])}`}
                  onClick={(event) => {
                    event.preventDefault();
                    props.onOpen(row);
                  }}
                >
                  {table.name[row]}
                </a>
              </td>
              <td class="soft">{table.zones[table.zone[row]] || '–'}</td>
              {columns.map((each) => (
                <td key={each} class="num use-cell">
                  <span>
                    {amount(each, table.requested[each][row])} <span class="dim">/ {amount(each, table.allocatable[each][row])}</span>{' '}
                    <b>{percent(table.requested[each][row], table.allocatable[each][row])}</b>
                  </span>
                  <UseBar part={table.requested[each][row]} whole={table.allocatable[each][row]} />
                </td>
              ))}
              <td>{table.schedulable[row] === 0 ? <span class="badge warn">cordoned</span> : <span class="dim">ready for pods</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown && (
        <div class="more">
          <button class="btn small" onClick={() => setShown(shown + 5 * kPage)}>
            Show more of {count(rows.length)}
          </button>
        </div>
      )}
    </div>
  );
}
