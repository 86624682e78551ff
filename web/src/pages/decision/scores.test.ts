import { describe, expect, it } from 'vitest';
import type { DecisionSummary, FunnelStep, NodeScore } from '../../api/types';
import { merge } from './merge';
import { pluginColumns, segments, splitFunnel } from './scores';

const node = (name: string, ...weighted: number[]): NodeScore => ({
  node: name,
  rank: 1,
  total: weighted.reduce((a, b) => a + b, 0),
  scores: weighted.map((points, i) => ({ plugin: `p${i}`, raw: points, normalized: points, weight: 1, weighted: points })),
});

describe('scores', () => {
  const nodes = [node('a', 100, 30), node('b', 100, 10)];
  const columns = pluginColumns(nodes);
  it('a plugin that gives all nodes the same makes no difference', () => expect(columns.map((each) => each.spread)).toEqual([0, 20]));
  it('bars are whole', () => expect(segments(nodes[1], columns, false).map((each) => each.points)).toEqual([100, 10]));
  it('or only what differs', () => expect(segments(nodes[0], columns, true).map((each) => each.points)).toEqual([0, 20]));
});

describe('the funnel', () => {
  const step = (plugin: string, before: number, after: number, more: Partial<FunnelStep> = {}): FunnelStep => ({ plugin, point: 'Filter', before, after, reasons: [], ...more });
  it('keeps the steps that refused nodes apart', () => {
    const split = splitFunnel([step('A', 5, 5, { skipped: true }), step('B', 5, 3), step('C', 3, 3), step('C', 3, 3, { point: 'PreFilter' }), step('B', 5, 5, { point: 'PreFilter' })]);
    expect(split.refusing.map((row) => [row.step.plugin, row.refused])).toEqual([['B', 2]]);
    expect(split.passing).toEqual(['C']);
    expect(split.skipped).toEqual(['A']);
  });
});

describe('decisions from list and stream', () => {
  const of = (id: number) => ({ id }) as DecisionSummary;
  it('are one list, newest first, each once', () => expect(merge([of(3), of(2)], [of(2), of(1)]).map((each) => each.id)).toEqual([3, 2, 1]));
});
