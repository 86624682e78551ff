import { describe, expect, it } from 'vitest';
import { World } from '../../../mock/world';
import { groupPending, groupWorkloads } from './group';

describe('reasons', () => {
  const { groups, items } = new World().pending();
  const grouped = groupPending(groups, items);
  it('a pod is in the group of each of its reasons', () => {
    expect(grouped.find((each) => each.reason === 'Insufficient example.com/gpu')?.pods.map((pod) => pod.name)).toEqual(['train-0', 'train-1', 'train-2']);
    expect(grouped.find((each) => each.plugin === 'NodeAffinity')?.pods).toHaveLength(3);
  });
  it('gated pods have a group', () => expect(grouped.find((each) => each.plugin === 'SchedulingGates')?.pods.map((pod) => pod.name)).toEqual(['migrate']));
  it('no pod is left out, even when nothing is known about it', () => {
    const odd = { namespace: 'a', name: 'odd', where: 'active', attempts: 0, priority: 0 };
    const all = groupPending(groups, [...items, odd]).flatMap((each) => each.pods);
    expect(new Set(all)).toEqual(new Set([...items, odd]));
  });
});

describe('workloads', () => {
  const pod = (name: string, workload: string | undefined, message: string) => ({ namespace: 'a', name, workload, where: 'unschedulable', attempts: 1, priority: 0, message });
  it('are one entry where their pods wait for the same', () => {
    const groups = groupWorkloads([pod('w-1', 'Deployment/w', 'x'), pod('alone', undefined, 'x'), pod('w-2', 'Deployment/w', 'x'), pod('w-3', 'Deployment/w', 'y'), pod('other', undefined, 'x')]);
    expect(groups.map((group) => group.pods.map((each) => each.name))).toEqual([['w-1', 'w-2'], ['alone'], ['w-3'], ['other']]);
  });
});
