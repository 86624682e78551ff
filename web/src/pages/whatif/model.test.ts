import { describe, expect, it } from 'vitest';
import { World } from '../../../mock/world';
import { before, changesCluster, compare, decodeDraft, encodeDraft, fromQuery, fromRequest, kEmpty, nodeGroups, nodesNamed, perNode, scorePlugins, toRequest, unchanged } from './model';

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

describe('a draft in the address', () => {
  const linked = { ...kEmpty, manifests: 'kind: Pod # ü', uncordon: ['a', 'b'], add: [{ like: 'x', count: 2 }], weights: { Fit: 3 }, pending: false };
  it('comes back as it was', () => {
    expect(decodeDraft(encodeDraft(linked))).toEqual(linked);
    expect(encodeDraft(linked)).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(encodeDraft(kEmpty)).toBe('');
  });
  it('is left out when it is too long, and ignored when it is not one', () => {
    expect(encodeDraft({ ...kEmpty, manifests: 'x'.repeat(30000) })).toBe('');
    for (const text of ['', '%', 'bnVsbA', btoa('{"cordon":"a"}'), btoa('{"add":[1]}'), btoa('{"nope":1}')]) expect(decodeDraft(text)).toBeNull();
  });
  it('is what the API is asked', () => {
    expect(fromRequest(toRequest(linked))).toEqual(linked);
  });
});

describe('nodes', () => {
  const { table } = new World();
  it('are named one by one or by zone and pool', () => {
    expect(nodesNamed('node-0003', table)).toEqual(['node-0003']);
    expect(nodesNamed('zone=zone-b', table)).toHaveLength(17);
    expect(nodesNamed('pool=gpu', table)).toEqual(table.name.filter((_, row) => row % 7 === 3));
    expect(nodesNamed('node-9', table)).toEqual([]);
    expect(nodeGroups(table)).toContain('pool=gpu');
  });
});

describe('before', () => {
  const placement = { namespace: 'a', name: 'p', outcome: 'Placed' as const, node: 'n2' };
  it('is where the pod is, else where it would be', () => {
    expect(before({ placement: { ...placement, before: 'n1' }, moved: false })).toEqual({ node: 'n1', text: '' });
    expect(before({ placement, otherwise: { ...placement, node: 'n3' }, moved: true })).toEqual({ node: 'n3', text: 'would be' });
    expect(before({ placement: { ...placement, source: 'manifest' }, moved: false })).toEqual({ node: '', text: 'new' });
  });
});
