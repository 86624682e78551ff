// One node: what it has, what is used, which pods are on it, what still fits.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NodeDetail } from '../../api/types';
import { useApi } from '../../api/use';
import { segment } from '../../api/client';
import { amount, compact, count, percent, plural } from '../../lib/format';
import { parseQuantity } from '../../lib/quantity';
import { href } from '../../lib/router';
import { CloseIcon } from '../../ui/icons';
import { Empty, Failure, Loading, PodLink, UseBar } from '../../ui/parts';
import { fits } from './heat';

export const kSizes = [
  { cpu: '100m', memory: '128Mi' },
  { cpu: '500m', memory: '512Mi' },
  { cpu: '1', memory: '2Gi' },
  { cpu: '4', memory: '8Gi' },
  { cpu: '8', memory: '32Gi' },
];

export function NodePanel({ name, onClose }: { name: string; onClose: () => void }) {
  const { data, error, reload } = useApi<NodeDetail>(`/nodes/${segment(name)}`, {}, 3000);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), [name]);
  return (
    <aside
      class="panel node-panel"
      aria-label={`Node ${name}`}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <div class="panel-head">
        <div>
          <h2 tabIndex={-1} ref={heading}>
            {name}
          </h2>
          {data?.zone && <div class="hint">{data.zone}</div>}
        </div>
        <div class="chips">
          {data && !data.schedulable && <span class="badge warn">cordoned</span>}
          <button class="btn plain icon small" onClick={onClose} aria-label="Close">
            <CloseIcon />
          </button>
        </div>
      </div>
      {error && !data ? <Failure error={error} retry={reload} /> : !data ? <Loading height={320} /> : <NodeBody node={data} />}
    </aside>
  );
}

function NodeBody({ node }: { node: NodeDetail }) {
  const free = Object.fromEntries(node.amounts.map((each) => [each.resource, each.free]));
  return (
    <div class="node-body">
      <section>
        <table class="amounts">
          <thead class="sr">
            <tr>
              <th>Resource</th>
              <th>Use</th>
              <th>Free</th>
            </tr>
          </thead>
          <tbody>
            {node.amounts
              .filter((each) => each.allocatable > 0 || each.requested > 0)
              .map((each) => (
                <tr key={each.resource}>
                  <th scope="row">{each.resource}</th>
                  <td>
                    <UseBar
                      part={each.requested}
                      whole={each.allocatable}
                      label={`${amount(each.resource, each.requested)} of ${amount(each.resource, each.allocatable)} requested`}
                    />
                    <span class="dim small">
                      {amount(each.resource, each.requested)} of {amount(each.resource, each.allocatable)} ·{' '}
                      {percent(each.requested, each.allocatable)}
                    </span>
                  </td>
                  <td class="num">
                    <b>{amount(each.resource, each.free)}</b>
                    <span class="dim small"> free</span>
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      </section>
      <StillFits name={node.name} free={free} schedulable={node.schedulable} />
      {(node.taints?.length ?? 0) > 0 && (
        <section>
          <h3>Taints</h3>
          <div class="chips">
            {node.taints!.map((taint) => (
              <span key={taint} class="chip">
                {taint}
              </span>
            ))}
          </div>
        </section>
      )}
      <section>
        <h3>
          {plural(node.pods.length, 'pod')}
          {(node.nominated?.length ?? 0) > 0 && `, ${plural(node.nominated!.length, 'pod')} nominated`}
        </h3>
        {node.pods.length === 0 ? (
          <p class="dim">Nothing runs here.</p>
        ) : (
          <div class="scroll">
            <table class="table pods">
              <thead>
                <tr>
                  <th>Pod</th>
                  <th class="num">CPU</th>
                  <th class="num">Memory</th>
                  <th class="num">Priority</th>
                </tr>
              </thead>
              <tbody>
                {node.pods.slice(0, 200).map((pod) => (
                  <tr key={`${pod.namespace}/${pod.name}`}>
                    <td>
                      <PodLink namespace={pod.namespace} name={pod.name} />
                      {pod.terminating && <span class="badge"> ending</span>}
                      {Object.entries(pod.extended ?? {}).map(([resource, value]) => (
                        <span key={resource} class="dim small">
                          {' '}
                          {resource} {compact(value)}
                        </span>
                      ))}
                    </td>
                    <td class="num">{amount('cpu', pod.cpu)}</td>
                    <td class="num">{amount('memory', pod.memory)}</td>
                    <td class="num dim">{count(pod.priority)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
      <details>
        <summary>
          <h3>{plural(Object.keys(node.labels ?? {}).length, 'label')} ▾</h3>
        </summary>
        <div class="chips">
          {Object.entries(node.labels ?? {}).map(([key, value]) => (
            <span key={key} class="chip">
              {key}
              {value !== '' && `=${value}`}
            </span>
          ))}
        </div>
      </details>
    </div>
  );
}

// What there will be too little of first.
const limitText = (limit: string) => (limit === 'pods' ? 'limited by pod count' : `limited by ${limit === 'cpu' ? 'CPU' : limit}`);

function StillFits({ name, free, schedulable }: { name: string; free: Record<string, number>; schedulable: boolean }) {
  const [cpu, setCpu] = useState('250m');
  const [memory, setMemory] = useState('256Mi');
  const custom = { cpu: parseQuantity(cpu), memory: parseQuantity(memory) };
  const bad = custom.cpu === null || custom.memory === null;
  const room = (cpuText: string, memoryText: string) =>
    fits(free, { cpu: (parseQuantity(cpuText) ?? 0) * 1000, memory: parseQuantity(memoryText) ?? 0 });
  return (
    <section>
      <h3>What still fits</h3>
      {Object.keys(free).length === 0 ? (
        <Empty title="This node offers nothing" />
      ) : (
        <table class="fits">
          <thead class="sr">
            <tr>
              <th>Size of a pod</th>
              <th>More pods</th>
              <th>Limited by</th>
            </tr>
          </thead>
          <tbody>
            {kSizes.map((size) => {
              const { count: more, limit } = room(size.cpu, size.memory);
              return (
                <tr key={size.cpu}>
                  <th scope="row">
                    {size.cpu} · {size.memory}
                  </th>
                  <td class="num">{more === 0 ? <span class="dim">none</span> : `${count(more)}×`}</td>
                  <td class="dim small">{limitText(limit)}</td>
                </tr>
              );
            })}
            <tr>
              <th scope="row">
                <input class="field tiny" aria-label="cpu of a pod" value={cpu} onInput={(e) => setCpu(e.currentTarget.value)} />
                {' · '}
                <input class="field tiny" aria-label="memory of a pod" value={memory} onInput={(e) => setMemory(e.currentTarget.value)} />
              </th>
              <td class="num">{bad ? '–' : room(cpu, memory).count === 0 ? <span class="dim">none</span> : `${count(room(cpu, memory).count)}×`}</td>
              <td class="dim small">{bad ? 'not a quantity' : limitText(room(cpu, memory).limit)}</td>
            </tr>
          </tbody>
        </table>
      )}
      <p class="dim small">
        Counted by resources. Taints, affinity and volumes can refuse more: <a href={href('whatif')}>try it</a>, or see{' '}
        {schedulable ? <a href={href('whatif', [], { cordon: name })}>what if it were cordoned</a> : <a href={href('whatif', [], { uncordon: name })}>what if it were uncordoned</a>} or <a href={href('whatif', [], { remove: name })}>gone</a>.
      </p>
    </section>
  );
}
