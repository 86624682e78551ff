// What the pages are developed against is what the API promises.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Groups } from '../../mock/groups';
import { problems } from '../../mock/schema';
import { World } from '../../mock/world';

const schema = JSON.parse(readFileSync(new URL('../../../docs/explain.schema.json', import.meta.url), 'utf8'));
const world = new World();
const groups = new Groups();
const scheduled = world.decisions.find((each) => each.outcome === 'Scheduled' && each.feasible > 1)!;
const failed = world.decisions.find((each) => each.outcome === 'Unschedulable')!;

it.each([
  ['NodeTable', world.table],
  ['NodeDetail', world.node('node-0003')],
  ['PendingList', world.pending()],
  ['SuggestionList', world.suggestions('a', 'b')],
  ['DecisionSummary', scheduled],
  ['Decision', world.decision(scheduled.namespace, scheduled.name, 'node-0001')],
  ['Decision', world.decision(failed.namespace, failed.name, '')],
  ['QueueState', world.queue()],
  ['ConfigView', world.config()],
  ['PodGroupList', groups.list()],
  ...groups.list().items.map(({ namespace, name }) => ['PodGroupView', groups.view(namespace, name)] as [string, unknown]),
  ['WhatIfResult', world.whatIf({ manifests: 'replicas: 3', addNodes: [{ like: '', count: 2 }] })],
])('%s', (type, value) => expect(problems(schema, type, value)).toEqual([]));

it('MappedPlan', () => {
  const plans = JSON.parse(readFileSync(new URL('../../../docs/plan.schema.json', import.meta.url), 'utf8'));
  expect(problems(plans, 'MappedPlan', world.plan({ question: 'drain', nodes: ['node-0001'] }))).toEqual([]);
});

it('the check can fail', () => {
  expect(problems(schema, 'NodeTable', { ...world.table, zone: ['a'], count: 1.5, more: 1 })).toHaveLength(3);
});
