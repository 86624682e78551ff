import { describe, expect, it } from 'vitest';
import { World } from '../../../mock/world';
import { matches } from './merge';

const all = { outcome: '', namespace: '', workload: '', text: '' };
const decision = { ...new World().decisions[0], namespace: 'shop', name: 'web-7d4f-x', outcome: 'Scheduled' as const, node: 'Node-1' };

describe('decisions of the stream', () => {
  it('pass the same filters as those of the list', () => {
    expect(matches(decision, all)).toBe(true);
    for (const text of ['P/WEB', 'node-1', '']) expect(matches(decision, { ...all, text })).toBe(true);
    expect(matches(decision, { ...all, text: 'cart' })).toBe(false);
    expect(matches(decision, { ...all, workload: 'web' })).toBe(true);
    expect(matches(decision, { ...all, workload: 'we' })).toBe(false);
    expect(matches(decision, { ...all, namespace: 'sho' })).toBe(false);
    expect(matches(decision, { ...all, outcome: 'Error' })).toBe(false);
  });
});
