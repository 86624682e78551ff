// What the heat map shows, without drawing it: how full nodes are, in which zone, where their cell is.
import type { NodeTable } from '../../api/types';

export const kBusiest = 'busiest'; // the fullest of cpu, memory and pods
export const kSteps = 10;

// 0 to 1 by node; NaN where the node has none of the resource. Overcommitted nodes are full.
export function useOf(table: NodeTable, resource: string): Float64Array {
  const use = new Float64Array(table.count).fill(NaN);
  const resources = resource === kBusiest ? ['cpu', 'memory', 'pods'] : [resource];
  for (const each of resources) {
    const allocatable = table.allocatable[each];
    const requested = table.requested[each];
    if (!allocatable || !requested) continue;
    for (let i = 0; i < table.count; i++) {
      if (!(allocatable[i] > 0)) continue;
      const share = Math.min(1, requested[i] / allocatable[i]);
      if (!(use[i] >= share)) use[i] = share;
    }
  }
  return use;
}

export function step(use: number): number {
  return Math.min(kSteps - 1, Math.floor(use * kSteps));
}

export function histogram(use: Float64Array): number[] {
  const counts = new Array<number>(kSteps).fill(0);
  for (const value of use) if (!Number.isNaN(value)) counts[step(value)]++;
  return counts;
}

export interface Zone {
  name: string; // "": nodes without a zone
  nodes: number[]; // rows of the table
}

export type Order = 'name' | 'use';

// What nodes are grouped or coloured by: names of the kinds, and the kind of each node.
export type Kind = 'zone' | 'pool' | 'taint' | 'state';
export const kKinds: Kind[] = ['zone', 'pool', 'taint', 'state'];

export interface Kinds {
  names: string[]; // "": none
  of: number[];
}

const kStates = ['ready', 'cordoned', 'not ready'];

export function kindsOf(table: NodeTable, kind: Kind): Kinds {
  if (kind === 'zone') return { names: table.zones, of: table.zone };
  if (kind === 'pool') return { names: table.pools ?? [''], of: table.pool ?? new Array<number>(table.count).fill(0) };
  if (kind === 'taint') return { names: table.taints ?? [''], of: table.taint ?? new Array<number>(table.count).fill(0) };
  return { names: kStates, of: table.schedulable.map((open, row) => (table.ready?.[row] === 0 ? 2 : open === 0 ? 1 : 0)) };
}

export function zonesOf(table: NodeTable, use: Float64Array, order: Order, kind: Kind = 'zone'): Zone[] {
  const kinds = kindsOf(table, kind);
  const zones: Zone[] = kinds.names.map((name) => ({ name, nodes: [] }));
  for (let i = 0; i < table.count; i++) zones[kinds.of[i]]?.nodes.push(i);
  const byName = new Intl.Collator('en', { numeric: true }).compare;
  for (const zone of zones) {
    zone.nodes.sort((a, b) => {
      const more = order === 'use' ? (use[b] || 0) - (use[a] || 0) : 0;
      return more !== 0 ? more : byName(table.name[a], table.name[b]);
    });
  }
  return zones
    .filter((zone) => zone.nodes.length > 0)
    .sort((a, b) => (a.name === '' ? 1 : b.name === '' ? -1 : byName(a.name, b.name)));
}

// Only resources somebody has.
export function resourcesOf(table: NodeTable): string[] {
  return table.resources.filter((resource) => table.allocatable[resource]?.some((value) => value > 0));
}

export function sum(values: number[] | undefined): number {
  let total = 0;
  for (const value of values ?? []) total += value;
  return total;
}

export function mean(zone: Zone, use: Float64Array): number {
  let total = 0;
  let known = 0;
  for (const i of zone.nodes) {
    if (Number.isNaN(use[i])) continue;
    total += use[i];
    known++;
  }
  return known > 0 ? total / known : NaN;
}

// Requested of what these nodes have, as everywhere on the page; of the busiest resource the mean of the nodes.
export function shareOf(table: NodeTable, zone: Zone, use: Float64Array, resource: string): number {
  if (resource === kBusiest) return mean(zone, use);
  let requested = 0;
  let allocatable = 0;
  for (const i of zone.nodes) {
    requested += table.requested[resource]?.[i] ?? 0;
    allocatable += table.allocatable[resource]?.[i] ?? 0;
  }
  return allocatable > 0 ? requested / allocatable : NaN;
}

export interface Grid {
  cell: number; // side with the gap
  gap: number;
  columns: number;
  rows: number;
  height: number;
}

// Cells as large as fit about `room` pixels of height, between 6 and 44.
export function gridFor(count: number, largest: number, width: number, room = 400): Grid {
  const ideal = Math.sqrt((Math.max(width, 1) * room) / Math.max(largest, 1));
  const cell = Math.max(6, Math.min(44, Math.floor(ideal)));
  const gap = cell >= 20 ? 4 : cell >= 10 ? 2 : 1;
  const columns = Math.max(1, Math.floor((width + gap) / cell));
  const rows = Math.ceil(count / columns);
  return { cell, gap, columns, rows, height: Math.max(0, rows * cell - gap) };
}

export function cellAt(grid: Grid, count: number, x: number, y: number): number {
  if (x < 0 || y < 0) return -1;
  const column = Math.floor(x / grid.cell);
  const row = Math.floor(y / grid.cell);
  if (column >= grid.columns) return -1;
  const place = row * grid.columns + column;
  return place < count ? place : -1;
}

// Where an arrow key leads; -1 when it leads nowhere.
export function moved(grid: Grid, count: number, from: number, key: string): number {
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -grid.columns,
    ArrowDown: grid.columns,
    PageUp: -grid.columns * 5,
    PageDown: grid.columns * 5,
  };
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  if (!(key in steps)) return -1;
  const to = from + steps[key];
  if (to < 0) return key === 'PageUp' ? from % grid.columns : from;
  if (to >= count) return key === 'PageDown' ? count - 1 : from;
  return to;
}

// How many more pods of a size fit into what is free, and what runs out first.
export function fits(free: Record<string, number>, size: Record<string, number>): { count: number; limit: string } {
  let count = Infinity;
  let limit = '';
  for (const [resource, need] of Object.entries({ ...size, pods: 1 })) {
    if (!(need > 0)) continue;
    const room = Math.max(0, Math.floor((free[resource] ?? 0) / need));
    if (room < count) {
      count = room;
      limit = resource;
    }
  }
  return { count: Number.isFinite(count) ? count : 0, limit };
}

// The same over all nodes that take pods: how many pods, on how many nodes.
export function fitsCluster(table: NodeTable, size: Record<string, number>): { pods: number; nodes: number } {
  let pods = 0;
  let nodes = 0;
  const need = Object.entries({ ...size, pods: 1 }).filter(([, value]) => value > 0);
  for (let i = 0; i < table.count; i++) {
    if (table.schedulable[i] === 0) continue;
    let room = Infinity;
    for (const [resource, value] of need) {
      const free = (table.allocatable[resource]?.[i] ?? 0) - (table.requested[resource]?.[i] ?? 0);
      room = Math.min(room, Math.max(0, Math.floor(free / value)));
    }
    if (room > 0 && Number.isFinite(room)) {
      pods += room;
      nodes++;
    }
  }
  return { pods, nodes };
}
