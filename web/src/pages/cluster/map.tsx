// One zone of the heat map: a canvas, with the node under the pointer or the keyboard as an element of its own, so that it can be
// read out and focused. Arrow keys move, Enter opens.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { theme } from '../../lib/theme';
import { useStore } from '../../lib/store';
import { cellAt, gridFor, kSteps, moved, step, type Zone } from './heat';

export const kHues = 8;

export interface MapProps {
  zone: Zone;
  largest: number; // nodes of the largest zone: all zones use one size of cell
  use: Float64Array;
  cordoned: (row: number) => boolean;
  unready: (row: number) => boolean;
  tainted: (row: number) => boolean;
  colours: number[] | null; // a kind by node instead of its use
  dimmed: (row: number) => boolean; // changes with `filter` alone
  filter: string;
  selected: number;
  describe: (row: number) => string;
  onHover: (row: number, at: DOMRect | null) => void;
  onOpen: (row: number) => void;
}

function palette(element: Element): { steps: string[]; kinds: string[]; bad: string; none: string; ink: string; line: string; surface: string } {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    steps: Array.from({ length: kSteps }, (_, i) => read(`--heat-${i}`)),
    kinds: Array.from({ length: kHues }, (_, i) => read(`--cat-${i}`)),
    bad: read('--bad'),
    none: read('--heat-none'),
    ink: read('--ink'),
    line: read('--ink-3'),
    surface: read('--surface'),
  };
}

export function ZoneMap(props: MapProps) {
  const { zone, use, selected } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [active, setActive] = useState(0);
  const [focused, setFocused] = useState(false);
  const look = useStore(theme);
  const count = zone.nodes.length;
  const grid = gridFor(count, props.largest, width);
  const place = Math.min(active, count - 1);

  useLayoutEffect(() => {
    const element = box.current!;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = canvas.current;
    if (!element || width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(grid.height * ratio);
    const context = element.getContext('2d');
    if (!context) return;
    context.scale(ratio, ratio);
    const colors = palette(element);
    const side = grid.cell - grid.gap;
    const radius = side >= 16 ? 4 : side >= 9 ? 2 : 0;
    for (let i = 0; i < count; i++) {
      const row = zone.nodes[i];
      const x = (i % grid.columns) * grid.cell;
      const y = Math.floor(i / grid.columns) * grid.cell;
      const value = use[row];
      context.globalAlpha = props.dimmed(row) ? 0.18 : 1;
      context.fillStyle = props.colours ? colors.kinds[props.colours[row] % kHues] : Number.isNaN(value) ? colors.none : colors.steps[step(value)];
      context.beginPath();
      if (radius > 0) context.roundRect(x, y, side, side, radius);
      else context.rect(x, y, side, side);
      context.fill();
      if (props.cordoned(row)) {
        // A stroke through it: no new pods.
        context.strokeStyle = !Number.isNaN(value) && step(value) >= 5 ? colors.surface : colors.line;
        context.lineWidth = side >= 16 ? 2 : 1;
        context.beginPath();
        context.moveTo(x + side * 0.2, y + side * 0.8);
        context.lineTo(x + side * 0.8, y + side * 0.2);
        context.stroke();
      }
      const dark = props.colours !== null || (!Number.isNaN(value) && step(value) >= 5);
      if (props.unready(row)) {
        context.strokeStyle = colors.bad;
        context.lineWidth = side >= 16 ? 3 : 2;
        context.strokeRect(x + 1, y + 1, side - 2, side - 2);
      }
      if (props.tainted(row) && side >= 9) {
        // A dot in the corner: only pods that tolerate it.
        context.fillStyle = dark ? colors.surface : colors.line;
        context.beginPath();
        context.arc(x + side - side * 0.22, y + side * 0.22, Math.max(1.5, side * 0.1), 0, 2 * Math.PI);
        context.fill();
      }
    }
    context.globalAlpha = 1;
    const chosen = zone.nodes.indexOf(selected);
    if (chosen >= 0) {
      context.strokeStyle = colors.ink;
      context.lineWidth = 2;
      context.strokeRect((chosen % grid.columns) * grid.cell + 1, Math.floor(chosen / grid.columns) * grid.cell + 1, side - 2, side - 2);
    }
    // Not for every move of the pointer: thousands of cells are drawn only when something about them has changed.
  }, [zone, use, width, props.largest, selected, props.filter, props.colours, look]);

  const rectOf = (index: number): DOMRect => {
    const base = canvas.current!.getBoundingClientRect();
    const side = grid.cell - grid.gap;
    return new DOMRect(base.x + (index % grid.columns) * grid.cell, base.y + Math.floor(index / grid.columns) * grid.cell, side, side);
  };
  const at = (event: MouseEvent): number => {
    const base = canvas.current!.getBoundingClientRect();
    return cellAt(grid, count, event.clientX - base.x, event.clientY - base.y);
  };
  const hover = (index: number) => props.onHover(index < 0 ? -1 : zone.nodes[index], index < 0 ? null : rectOf(index));

  const id = `zone-${zone.name || 'none'}`;
  return (
    <div
      class="zone-map"
      ref={box}
      role="listbox"
      tabIndex={0}
      aria-label={`Nodes of ${zone.name || 'no zone'}`}
      aria-activedescendant={`${id}-active`}
      onMouseMove={(event) => hover(at(event))}
      onMouseLeave={() => props.onHover(-1, null)}
      onClick={(event) => {
        const index = at(event);
        if (index < 0) return;
        setActive(index);
        props.onOpen(zone.nodes[index]);
      }}
      onFocus={() => {
        setFocused(true);
        if (box.current?.matches(':focus-visible')) hover(place);
      }}
      onBlur={() => {
        setFocused(false);
        props.onHover(-1, null);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          props.onOpen(zone.nodes[place]);
          return;
        }
        const to = moved(grid, count, place, event.key);
        if (to < 0) return;
        event.preventDefault();
        setActive(to);
        hover(to);
      }}
    >
      <canvas ref={canvas} class="zone-canvas" style={{ height: `${grid.height}px` }} />
      {count > 0 && (
        <div
          id={`${id}-active`}
          class={focused ? 'zone-active on' : 'zone-active'}
          role="option"
          aria-selected={zone.nodes[place] === selected}
          aria-setsize={count}
          aria-posinset={place + 1}
          aria-label={props.describe(zone.nodes[place])}
          style={{
            transform: `translate(${(place % grid.columns) * grid.cell}px, ${Math.floor(place / grid.columns) * grid.cell}px)`,
            width: `${grid.cell - grid.gap}px`,
            height: `${grid.cell - grid.gap}px`,
          }}
        />
      )}
    </div>
  );
}
