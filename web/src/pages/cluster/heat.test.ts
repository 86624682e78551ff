import { describe, expect, it } from 'vitest';
import { World } from '../../../mock/world';
import type { NodeTable } from '../../api/types';
import { cellAt, fits, fitsCluster, gridFor, histogram, kBusiest, mean, moved, resourcesOf, shareOf, useOf, zonesOf } from './heat';

const table: NodeTable = {
  count: 4,
  zones: ['b', '', 'a'],
  resources: ['cpu', 'memory', 'pods', 'gpu', 'none'],
  name: ['n10', 'n2', 'n1', 'x'],
  zone: [0, 0, 2, 1],
  schedulable: [1, 1, 0, 1],
  allocatable: { cpu: [1000, 1000, 1000, 0], memory: [10, 10, 10, 10], pods: [5, 5, 5, 5], gpu: [0, 2, 0, 0], none: [0, 0, 0, 0] },
  requested: { cpu: [500, 0, 2000, 0], memory: [9, 1, 0, 10], pods: [1, 1, 1, 1], gpu: [0, 1, 0, 0], none: [0, 0, 0, 0] },
};

describe('use', () => {
  it('is a share, full at most, unknown without the resource', () => expect([...useOf(table, 'cpu')]).toEqual([0.5, 0, 1, NaN]));
  it('of the busiest resource', () => expect([...useOf(table, kBusiest)]).toEqual([0.9, 0.2, 1, 1]));
  it('is counted in ten steps; full is the last', () => expect(histogram(useOf(table, 'cpu'))).toEqual([1, 0, 0, 0, 0, 1, 0, 0, 0, 1]));
  it('is asked only of resources somebody has', () => expect(resourcesOf(table)).toEqual(['cpu', 'memory', 'pods', 'gpu']));
});

describe('zones', () => {
  it('are sorted by name, those without one last; numbers in names count', () => {
    const zones = zonesOf(table, useOf(table, 'cpu'), 'name');
    expect(zones.map((zone) => [zone.name, zone.nodes.map((i) => table.name[i])])).toEqual([
      ['a', ['n1']],
      ['b', ['n2', 'n10']],
      ['', ['x']],
    ]);
  });
  it('by use the fullest is first', () => expect(zonesOf(table, useOf(table, 'cpu'), 'use')[1].nodes).toEqual([0, 1]));
  it('are pools, taints or states when asked', () => {
    const kinds = { ...table, pools: ['', 'gpu'], pool: [1, 0, 1, 0], ready: [1, 1, 1, 0] };
    const groups = (kind: 'pool' | 'state' | 'taint') => zonesOf(kinds, useOf(kinds, 'cpu'), 'name', kind).map((zone) => [zone.name, zone.nodes.length]);
    expect(groups('pool')).toEqual([['gpu', 2], ['', 2]]);
    expect(groups('state')).toEqual([['cordoned', 1], ['not ready', 1], ['ready', 2]]);
    expect(groups('taint')).toEqual([['', 4]]);
  });
  it('show what is requested of what there is, as the tables do', () => {
    const zone = { name: '', nodes: [0, 1] };
    expect(shareOf(table, zone, useOf(table, 'cpu'), 'cpu')).toBe(0.25);
    expect(shareOf(table, zone, useOf(table, 'none'), 'none')).toBeNaN();
  });
  it('have a mean', () => expect(mean({ name: 'b', nodes: [0, 1, 3] }, useOf(table, 'cpu'))).toBe(0.25));
});

describe('the grid', () => {
  it('has room for every node at any width', () => {
    for (const width of [50, 330, 1200]) {
      for (const count of [1, 17, 1667, 40000]) {
        const grid = gridFor(count, count, width);
        expect(grid.columns * grid.rows).toBeGreaterThanOrEqual(count);
        expect(grid.columns * grid.cell - grid.gap).toBeLessThanOrEqual(width);
        expect(cellAt(grid, count, ((count - 1) % grid.columns) * grid.cell, Math.floor((count - 1) / grid.columns) * grid.cell)).toBe(count - 1);
      }
    }
  });
  it('knows where there is no node', () => {
    const grid = gridFor(3, 3, 400);
    expect(cellAt(grid, 3, -1, 0)).toBe(-1);
    expect(cellAt(grid, 3, grid.cell * 3 + 1, 0)).toBe(-1);
    expect(cellAt(grid, 3, 399, 0)).toBe(-1);
  });
  it('is walked with arrow keys and not left', () => {
    const grid = { cell: 10, gap: 1, columns: 4, rows: 3, height: 30 };
    expect(moved(grid, 10, 1, 'ArrowDown')).toBe(5);
    expect(moved(grid, 10, 7, 'ArrowDown')).toBe(7);
    expect(moved(grid, 10, 0, 'ArrowLeft')).toBe(0);
    expect(moved(grid, 10, 3, 'End')).toBe(9);
    expect(moved(grid, 10, 9, 'PageUp')).toBe(1);
    expect(moved(grid, 10, 3, 'x')).toBe(-1);
  });
});

describe('what still fits', () => {
  it.each([
    ['the scarcest decides', { cpu: 2000, memory: 100, pods: 50 }, { cpu: 500, memory: 50 }, { count: 2, limit: 'memory' }],
    ['places for pods count', { cpu: 2000, memory: 100, pods: 1 }, { cpu: 500, memory: 10 }, { count: 1, limit: 'pods' }],
    ['overcommitted nodes take nothing', { cpu: -5, memory: 100, pods: 9 }, { cpu: 500, memory: 10 }, { count: 0, limit: 'cpu' }],
  ])('%s', (_, free, size, wanted) => expect(fits(free, size)).toEqual(wanted));
  it('cordoned nodes do not count', () => expect(fitsCluster(table, { cpu: 250, memory: 1 })).toEqual({ pods: 5, nodes: 2 }));
  it('five thousand nodes are no matter', () => {
    const world = new World(5000);
    expect(fitsCluster(world.table, { cpu: 100, memory: 2 ** 27 }).nodes).toBeGreaterThan(1000);
  });
});
