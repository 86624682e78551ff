// Made-up pod groups: one that runs, one that waits, one without all of its pods.
import type { PodGroupList, PodGroupSummary, PodGroupView } from '../src/api/types';

const kShort = '0/8 nodes are available: 8 Insufficient example.com/gpu.';

export class Groups {
  private readonly created = new Date(Date.now() - 9 * 60_000).toISOString();

  list(namespace = ''): PodGroupList {
    const items = [this.summary('second'), this.summary('half'), this.summary('first')].filter((each) => !namespace || each.namespace === namespace);
    return { followed: true, total: items.length, items };
  }

  view(namespace: string, name: string): PodGroupView | null {
    if (!this.list().items.some((each) => each.namespace === namespace && each.name === name)) return null;
    const group = this.summary(name);
    const pods = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `${name}-${from + i}`);
    if (name === 'first') {
      return { group, needed: 0, best: 0, members: pods(0, 24).map((pod, i) => ({ name: pod, node: `node-${String(3 + 7 * (i % 6)).padStart(4, '0')}`, outcome: 'Placed' })), help: [] };
    }
    if (name === 'half') {
      return {
        group,
        outcome: 'Gated',
        message: 'waiting for minCount pods from a gang to appear in scheduling queue',
        needed: 8,
        best: 3,
        bestNodes: [{ node: 'node-0003', pods: 3 }],
        members: pods(0, 3).map((pod) => ({ name: pod, outcome: 'Gated', wouldGo: 'node-0003', message: 'waiting for minCount pods from a gang to appear in scheduling queue' })),
        help: [],
        tried: 4,
      };
    }
    return {
      group,
      outcome: 'Unschedulable',
      message: group.message,
      needed: 24,
      best: 9,
      bestDomain: 'rack-2',
      bestNodes: [
        { node: 'node-0010', pods: 4 },
        { node: 'node-0017', pods: 4 },
        { node: 'node-0024', pods: 1 },
      ],
      blockers: [{ pod: 'second-9', pods: 15, message: kShort }],
      members: [
        ...pods(0, 9).map((pod, i) => ({ name: pod, outcome: 'Fits' as const, wouldGo: ['node-0010', 'node-0017', 'node-0024'][Math.floor(i / 4)] })),
        ...pods(9, 24).map((pod) => ({ name: pod, outcome: 'Unschedulable' as const, message: kShort })),
      ],
      domainKey: 'example.com/rack',
      domains: [
        { name: 'rack-2', nodes: 8, fits: 9, message: kShort },
        { name: 'rack-1', nodes: 8, fits: 4, message: kShort },
        { name: 'rack-3', nodes: 8, fits: 0, message: kShort },
      ],
      domainCount: 3,
      domainsTried: 3,
      preemption: 'pod group preemption: No preemption victims found for incoming preemptor',
      help: [
        { kind: 'WaitFor', text: 'the group is scheduled when podgroup ml/first ends (24 pods)', nodes: 0, examples: [], change: { ends: 'podgroup ml/first' } },
        {
          kind: 'LowerMinCount',
          text: 'the group is scheduled if minCount were 9',
          nodes: 0,
          examples: [],
          change: { from: '24', to: '9' },
          patch: `kubectl patch podgroup -n ml second --type merge -p '{"spec":{"schedulingPolicy":{"gang":{"minCount":9}}}}'`,
        },
        { kind: 'AddNode', text: 'the group is scheduled with 4 new nodes like node-0010', nodes: 4, examples: [], change: { count: '4', like: 'node-0010' }, whatIf: { addNodes: [{ like: 'node-0010', count: 4 }] } },
      ],
      tried: 31,
    };
  }

  private summary(name: string): PodGroupSummary {
    const base = { namespace: 'ml', name, uid: `uid-${name}`, profile: 'default-scheduler', workload: `Job/${name}`, createdAt: this.created };
    if (name === 'first') return { ...base, state: 'Running', minCount: 24, pods: 24, placed: 24, reason: 'Scheduled' };
    if (name === 'half') return { ...base, state: 'Incomplete', minCount: 8, pods: 3, placed: 0 };
    return {
      ...base,
      state: 'Waiting',
      minCount: 24,
      pods: 24,
      placed: 0,
      topology: 'example.com/rack',
      reason: 'Unschedulable',
      message: 'pod group is unschedulable, 0/3 placements are available, first placement status: minCount (24) cannot be satisfied: 4 scheduled, 19 remaining',
    };
  }
}
