// Bars of one second each, the newest right; what was bound below, what was not placed on top.
import { count } from '../../lib/format';

// The least round number (1, 2, 5 × 10^n) that is not below the value.
export function roundUp(value: number): number {
  if (value <= 1) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  for (const each of [1, 2, 5, 10]) if (each * unit >= value) return each * unit;
  return 10 * unit;
}

export function FlowChart({ bound, failed }: { bound: number[]; failed: number[] }) {
  const n = Math.max(bound.length, failed.length, 60);
  const at = (values: number[], i: number) => values[values.length - n + i] ?? 0;
  const rows = Array.from({ length: n }, (_, i) => ({ bound: at(bound, i), failed: at(failed, i) }));
  const top = roundUp(Math.max(...rows.map((row) => row.bound + row.failed)));
  const height = 120;
  const y = (value: number) => (value / top) * height;
  return (
    <figure class="flow" role="img" aria-label={`Pods bound in the last ${n} seconds: ${count(rows.reduce((sum, row) => sum + row.bound, 0))}, at most ${count(Math.max(...rows.map((row) => row.bound)))} in one second`}>
      <div class="flow-scale" aria-hidden="true">
        <span>{count(top)}/s</span>
        <span>{top > 1 ? (top / 2).toLocaleString('en-US') : ''}</span>
        <span>0</span>
      </div>
      <svg viewBox={`0 0 ${n * 10} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {[0, 0.5, 1].map((part) => (
          <line key={part} x1="0" x2={n * 10} y1={height * part} y2={height * part} stroke="var(--line)" vector-effect="non-scaling-stroke" />
        ))}
        {rows.map((row, i) => (
          <g key={i}>
            <title>{`${n - 1 - i} s ago: ${count(row.bound)} bound, ${count(row.failed)} not placed`}</title>
            <rect x={i * 10} y="0" width="10" height={height} fill="transparent" />
            {row.bound > 0 && <rect x={i * 10 + 1} y={height - y(row.bound)} width="8" height={y(row.bound)} fill="var(--accent)" />}
            {row.failed > 0 && <rect x={i * 10 + 1} y={height - y(row.bound + row.failed)} width="8" height={y(row.failed)} fill="var(--cat-1)" />}
          </g>
        ))}
      </svg>
      <div class="flow-time" aria-hidden="true">
        <span>{n} s ago</span>
        <span>{n / 2} s</span>
        <span>now</span>
      </div>
    </figure>
  );
}
