import { describe, expect, it } from 'vitest';
import { World } from '../../../mock/world';
import { groupPending } from './group';

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
