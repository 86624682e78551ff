import { describe, expect, it } from 'vitest';
import { World } from '../../../mock/world';
import { changesCluster, compare, fromQuery, kEmpty, perNode, scorePlugins, toRequest, unchanged } from './model';

const draft = { ...kEmpty, manifests: 'kind: Deployment\nspec: {replicas: 3}\nreplicas: 3', cordon: ['n1'], weights: { Fit: 5 } };

describe('a what-if', () => {
  it('sends only what was changed', () => {
    expect(toRequest(kEmpty)).toEqual({ reschedulePending: true });
    expect(toRequest(draft)).toEqual({ manifests: draft.manifests, cordon: ['n1'], weights: { Fit: 5 }, reschedulePending: true });
  });
  it('names the profile only with weights', () => {
    expect(toRequest({ ...draft, profile: 'x' }).profile).toBe('x');
    expect(toRequest({ ...draft, weights: {}, profile: 'x' }).profile).toBeUndefined();
  });
  it('is compared with the same pods on the cluster as it is', () => {
    expect(changesCluster(draft)).toBe(true);
    expect(changesCluster({ ...kEmpty, manifests: 'x' })).toBe(false);
    expect(unchanged(draft)).toEqual({ manifests: draft.manifests, reschedulePending: true });
  });
  it('shows what moved', () => {
    const world = new World();
    const rows = compare(world.whatIf(toRequest(draft)), world.whatIf(unchanged(draft)));
    expect(rows.filter((row) => row.moved)).toHaveLength(3);
    expect(compare(world.whatIf(toRequest(draft)), null).some((row) => row.moved)).toBe(false);
  });
  it('counts pods by node', () => {
    const pod = (name: string, node: string) => ({ namespace: 'a', name, outcome: 'Placed' as const, node });
    expect(perNode([pod('1', 'n2'), pod('2', 'n10'), pod('3', 'n2')])).toEqual([
      { node: 'n2', pods: 2 },
      { node: 'n10', pods: 1 },
    ]);
  });
  it('can be linked to', () => {
    expect(fromQuery({ cordon: 'a,b', like: 'n', count: '5000' })).toEqual({ cordon: ['a', 'b'], add: [{ like: 'n', count: 1000 }] });
    expect(fromQuery({})).toEqual({});
  });
  it('takes weights from the profile', () => expect(scorePlugins(new World().config(), '')[0]).toEqual({ name: 'TaintToleration', weight: 3 }));
});
