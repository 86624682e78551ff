import { describe, expect, it } from 'vitest';
import { command, fromQuery, groups, heat, kEmpty, toQuery, toQuestion } from './model';

describe('toQuestion', () => {
  it.each([
    ['pool=spot', { pool: 'spot' }],
    ['zone=eu-1a', { zone: 'eu-1a' }],
    ['disk=ssd,arch=arm64', { selector: 'disk=ssd,arch=arm64' }],
    ['node-1, node-2', { nodes: ['node-1', 'node-2'] }],
    ['', {}],
  ])('%s', (nodes, expected) => expect(toQuestion({ ...kEmpty, nodes })).toEqual({ question: 'drain', ...expected }));

  it('has a count for shrink only, and a bound if there is one', () => {
    expect(toQuestion({ ...kEmpty, kind: 'shrink', nodes: 'pool=a', count: '3', most: '20' })).toEqual({ question: 'shrink', pool: 'a', count: 3, maxDisruption: 20 });
    expect(toQuestion({ ...kEmpty, kind: 'restore-spread', nodes: 'pool=a', count: '3' })).toEqual({ question: 'restore-spread' });
  });
});

it('a draft survives the address', () => {
  const draft = { kind: 'shrink' as const, nodes: 'pool=a', count: '4', most: '' };
  const query = Object.fromEntries(Object.entries(toQuery(draft)).filter(([, value]) => value !== undefined)) as Record<string, string>;
  expect(fromQuery(query)).toEqual(draft);
});

it('nodes are grouped by pool and zone', () => {
  const node = (name: string, pool?: string, zone?: string) => ({ name, pool, zone, percentBefore: 0, percentAfter: 0, podsBefore: 0, podsAfter: 0 });
  expect(groups([node('a', 'p', 'z'), node('b'), node('c', 'p', 'z')]).map((group) => [group.name, group.nodes.length])).toEqual([['p · z', 2], ['nodes', 1]]);
});

it('heat has ten steps', () => expect([0, 9, 10, 99, 140].map(heat)).toEqual([0, 0, 1, 9, 9]));

it('the command asks the same', () => expect(command({ ...kEmpty, nodes: 'pool=spot' })).toBe('berth plan drain --pool spot --kubeconfig FILE'));
