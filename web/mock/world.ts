// A made-up cluster that answers as the explain API does: for developing without berth, and for the unit tests.
import type {
  ConfigView, Decision, DecisionSummary, NodeDetail, NodeScore, NodeTable, PendingList, PendingPod, PluginScore, QueueState, SuggestionList,
  MappedPlan, PlanQuestion, WhatIfRequest, WhatIfResult,
} from '../src/api/types';

const kGi = 2 ** 30;
const kPlugins: [string, number][] = [
  ['TaintToleration', 3],
  ['NodeAffinity', 2],
  ['PodTopologySpread', 2],
  ['InterPodAffinity', 2],
  ['NodeResourcesFit', 1],
  ['NodeResourcesBalancedAllocation', 1],
  ['ImageLocality', 1],
];

export function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) % 1e6) / 1e6;
  };
}

export class World {
  readonly table: NodeTable;
  private readonly next: () => number;
  private id = 1000;
  decisions: DecisionSummary[] = [];
  private series = { bound: new Array<number>(60).fill(0), failed: new Array<number>(60).fill(0) };

  constructor(nodes = 50, seed = 7) {
    this.next = random(seed);
    const zones = ['zone-a', 'zone-b', 'zone-c'];
    const range = [...Array(nodes).keys()];
    const gpus = range.map((i) => (i % 7 === 3 ? 4 : 0));
    const fill = range.map((i) => Math.min(1, Math.max(0, 0.2 + 0.7 * this.next() + (i % 3) * 0.05)));
    this.table = {
      count: nodes,
      zones,
      resources: ['cpu', 'memory', 'pods', 'ephemeral-storage', 'example.com/gpu'],
      name: range.map((i) => `node-${String(i).padStart(4, '0')}`),
      zone: range.map((i) => i % 3),
      schedulable: range.map((i) => (i % 23 === 5 ? 0 : 1)),
      tainted: range.map((i) => (i % 7 === 3 ? 1 : 0)),
      ready: range.map((i) => (i % 31 === 8 ? 0 : 1)),
      pools: ['general', 'gpu'],
      pool: range.map((i) => (i % 7 === 3 ? 1 : 0)),
      taints: ['', 'example.com/gpu=true:NoSchedule'],
      taint: range.map((i) => (i % 7 === 3 ? 1 : 0)),
      allocatable: {
        cpu: range.map(() => 16000),
        memory: range.map(() => 64 * kGi),
        pods: range.map(() => 110),
        'ephemeral-storage': range.map(() => 100 * kGi),
        'example.com/gpu': gpus,
      },
      requested: {
        cpu: fill.map((f) => Math.round((f * 16000) / 50) * 50),
        memory: fill.map((f) => Math.round(Math.min(1, f * (0.6 + 0.5 * this.next())) * 128) * (kGi / 2)),
        pods: fill.map((f) => Math.round(f * 40)),
        'ephemeral-storage': range.map(() => 0),
        'example.com/gpu': gpus.map((n) => Math.floor(n * this.next() * 1.2)),
      },
    };
    for (let i = 0; i < 60; i++) this.decide(Date.now() - (60 - i) * 1000);
  }

  decide(time = Date.now()): DecisionSummary {
    const failed = this.next() < 0.15;
    const node = this.table.name[Math.floor(this.next() * this.table.count)];
    const id = this.id++;
    const feasible = failed ? 0 : 1 + Math.floor(this.next() * this.table.count * 0.7);
    const decision: DecisionSummary = {
      id,
      time: new Date(time).toISOString(),
      namespace: failed ? 'batch' : 'shop',
      name: failed ? `train-${id % 6}` : `web-7d4b9c6f8-${id.toString(36)}`,
      uid: `uid-${id}`,
      profile: 'default-scheduler',
      attempt: failed ? 1 + (id % 9) : 1,
      outcome: failed ? 'Unschedulable' : 'Scheduled',
      nodes: this.table.count,
      evaluated: this.table.count,
      feasible,
    };
    if (failed) {
      decision.message = this.pendingPods()[0].message;
      decision.rejections = this.pendingPods()[0].rejections;
    } else {
      decision.node = node;
      decision.equal = 1 + Math.floor(this.next() * 3);
      if (feasible > 1) decision.score = 420 + Math.floor(this.next() * 100);
    }
    this.series.bound[59] += failed ? 0 : 1;
    this.series.failed[59] += failed ? 1 : 0;
    this.decisions = [decision, ...this.decisions].slice(0, 400);
    return decision;
  }

  second(): void {
    this.series.bound = [...this.series.bound.slice(1), 0];
    this.series.failed = [...this.series.failed.slice(1), 0];
  }

  node(name: string): NodeDetail | null {
    const row = this.table.name.indexOf(name);
    if (row < 0) return null;
    const pods = Array.from({ length: this.table.requested.pods[row] }, (_, i) => ({
      namespace: i % 5 === 0 ? 'kube-system' : 'shop',
      name: `${['web', 'api', 'cache', 'worker'][i % 4]}-7d4b9c6f8-${(row * 131 + i * 17).toString(36).padStart(5, 'x')}`,
      priority: i % 5 === 0 ? 2000001000 : 0,
      cpu: [100, 250, 500, 1000][i % 4],
      memory: [128, 256, 512, 1024][i % 4] * 2 ** 20,
    }));
    return {
      name,
      zone: this.table.zones[this.table.zone[row]],
      schedulable: this.table.schedulable[row] === 1,
      labels: { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': this.table.zones[this.table.zone[row]], 'kubernetes.io/arch': 'amd64' },
      taints: this.table.tainted?.[row] ? ['example.com/gpu=true:NoSchedule'] : undefined,
      amounts: this.table.resources.map((resource) => {
        const allocatable = this.table.allocatable[resource][row];
        const requested = this.table.requested[resource][row];
        return { resource, allocatable, requested, free: allocatable - requested };
      }),
      pods,
    };
  }

  pendingPods(): PendingPod[] {
    const n = this.table.count;
    const gpu = Math.floor(n / 7);
    return [
      ...[0, 1, 2].map((i): PendingPod => ({
        namespace: 'batch', name: `train-${i}`, where: i === 0 ? 'backoff' : 'unschedulable', attempts: 4 + i, priority: 0, createdAt: new Date(Date.now() - 340000).toISOString(),
        message: `0/${n} nodes are available: ${gpu} Insufficient example.com/gpu, ${n - gpu} node(s) didn't match Pod's node affinity/selector.`,
        rejections: [
          { plugin: 'NodeAffinity', reason: "node(s) didn't match Pod's node affinity/selector", code: 'UnschedulableAndUnresolvable', nodes: n - gpu },
          { plugin: 'NodeResourcesFit', reason: 'Insufficient example.com/gpu', code: 'Unschedulable', nodes: gpu },
        ],
      })),
      ...[0, 1].map((i): PendingPod => ({
        namespace: 'shop', name: `report-${i}`, where: 'unschedulable', attempts: 2, priority: 100, createdAt: new Date(Date.now() - 65000).toISOString(),
        message: `0/${n} nodes are available: ${n} Insufficient cpu.`,
        rejections: [{ plugin: 'NodeResourcesFit', reason: 'Insufficient cpu', code: 'Unschedulable', nodes: n }],
      })),
      { namespace: 'shop', name: 'migrate', where: 'gated', attempts: 0, priority: 0, createdAt: new Date(Date.now() - 4000).toISOString(), message: 'waits for scheduling gates: example.com/approved' },
    ];
  }

  pending(): PendingList {
    const items = this.pendingPods();
    return {
      total: items.length,
      items,
      groups: [
        { plugin: 'NodeResourcesFit', reason: 'Insufficient example.com/gpu', pods: 3, nodes: 21 },
        { plugin: 'NodeAffinity', reason: "node(s) didn't match Pod's node affinity/selector", pods: 3, nodes: 120 },
        { plugin: 'NodeResourcesFit', reason: 'Insufficient cpu', pods: 2, nodes: 100 },
        { plugin: 'SchedulingGates', reason: 'waits for scheduling gates', pods: 1, examples: ['shop/migrate'] },
      ],
    };
  }

  suggestions(namespace: string, name: string): SuggestionList {
    return {
      namespace, name, feasibleNow: 0, tried: 7, workload: 'Deployment/train', pending: 3,
      causes: [{ kind: 'NotEnoughFree', text: 'its pods request 20 cpu each; the nodes that they may use have enough free for 1500m each' }],
      items: [
        { kind: 'LowerRequest', text: 'It fits on 3 nodes if it asks for at most 1500m cpu instead of 20.', nodes: 3, examples: ['node-0003', 'node-0010', 'node-0017'], patch: `kubectl -n ${namespace} patch deployment train --type=strategic -p '{}'`, whatIf: { manifests: 'kind: Pod', reschedulePending: false } },
        { kind: 'AddToleration', text: 'node-0024 lacks only a toleration for example.com/gpu=true:NoSchedule.', nodes: 1, examples: ['node-0024'] },
        { kind: 'AddNode', text: 'It would fit on one more node like node-0003.', nodes: 1, examples: [] },
      ],
    };
  }

  decision(namespace: string, name: string, asked: string): Decision | null {
    const record = this.decisions.find((each) => each.namespace === namespace && each.name === name);
    if (!record) return null;
    const n = this.table.count;
    const top = record.outcome === 'Scheduled' ? this.scores(12) : [];
    if (top.length > 0) {
      top[0].node = record.node!;
      top[0].chosen = true;
    }
    const affinity = Math.floor(n * 0.3);
    const taints = Math.floor(n / 7);
    const fit = record.feasible > 0 ? Math.floor(n * 0.1) : n - affinity - taints;
    const feasible = n - affinity - taints - fit;
    const step = (plugin: string, before: number, lost: number, reason: string) => ({
      plugin, point: 'Filter' as const, before, after: before - lost,
      reasons: lost > 0 ? [{ plugin, reason, code: 'Unschedulable' as const, nodes: lost, examples: ['node-0001'] }] : [],
    });
    return {
      record,
      recomputed: record.id % 2 === 0,
      podNode: record.node,
      funnel: {
        nodes: n,
        feasible,
        steps: [
          { ...step('NodePorts', n, 0, ''), skipped: true },
          step('NodeUnschedulable', n, 0, ''),
          step('TaintToleration', n, taints, 'node(s) had untolerated taint(s)'),
          step('NodeAffinity', n - taints, affinity, "node(s) didn't match Pod's node affinity/selector"),
          step('NodeResourcesFit', n - taints - affinity, fit, 'Insufficient cpu'),
          { ...step('VolumeBinding', feasible, 0, ''), skipped: true },
          step('PodTopologySpread', feasible, 0, ''),
        ],
      },
      topNodes: top,
      runnerUp:
        top.length > 1
          ? {
              node: top[1].node, total: top[1].total, behind: top[0].total - top[1].total,
              differences: top[0].scores
                .map((score, i) => ({ plugin: score.plugin, chosen: score.weighted, runnerUp: top[1].scores[i].weighted, difference: score.weighted - top[1].scores[i].weighted }))
                .sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference)),
              text: `${top[1].node} is ${top[0].total - top[1].total} points behind, mostly for NodeResourcesFit.`,
            }
          : undefined,
      node: asked === '' ? undefined : this.table.name.includes(asked) ? { node: asked, fits: false, plugin: 'NodeResourcesFit', code: 'Unschedulable', reasons: ['Insufficient cpu'] } : undefined,
      preemption: record.outcome === 'Unschedulable' ? { message: `preemption: 0/${n} nodes are available: ${n} No preemption victims found for incoming pod.`, candidates: [] } : undefined,
      queue: {
        where: record.outcome === 'Scheduled' ? 'assigned' : 'unschedulable',
        attempts: record.attempt,
        waitsFor: record.outcome === 'Scheduled' ? undefined : ['NodeResourcesFit', 'NodeAffinity'],
        history: [
          { time: record.time, from: 'in-flight', to: record.outcome === 'Scheduled' ? 'binding' : 'unschedulable', event: 'ScheduleAttemptFailure' },
          { time: record.time, from: 'active', to: 'in-flight', event: 'Pop' },
          { time: record.time, to: 'active', event: 'PodAdd', hints: [{ plugin: 'NodeResourcesFit', says: 'Queue' }] },
        ],
      },
      durationsMs: { Bind: 3.12, Filter: 0.0212, PreFilter: 0.0021, PreScore: 0.0043, Score: 0.0184 },
    };
  }

  private scores(count: number): NodeScore[] {
    const nodes: NodeScore[] = [];
    for (let i = 0; i < Math.min(count, this.table.count); i++) {
      const scores = kPlugins.map(([plugin, weight]): PluginScore => {
        const normalized = plugin === 'TaintToleration' ? 100 : plugin === 'ImageLocality' ? 0 : Math.round(100 - i * 3 * this.next() - 10 * this.next());
        return { plugin, raw: normalized, normalized, weight, weighted: normalized * weight };
      });
      nodes.push({ node: this.table.name[(i * 7) % this.table.count], rank: 0, total: scores.reduce((sum, each) => sum + each.weighted, 0), scores });
    }
    nodes.sort((a, b) => b.total - a.total);
    nodes.forEach((node, i) => (node.rank = i > 0 && nodes[i - 1].total === node.total ? nodes[i - 1].rank : i + 1));
    return nodes;
  }

  queue(): QueueState {
    const bound = this.series.bound.reduce((a, b) => a + b, 0);
    const failed = this.series.failed.reduce((a, b) => a + b, 0);
    return {
      time: new Date().toISOString(),
      counts: { active: Math.floor(this.next() * 4), backoff: 1, unschedulable: 4, gated: 1, inFlight: 1, waiting: 0, binding: Math.floor(this.next() * 3) },
      totals: { scheduled: this.id, unschedulable: 91, error: 0, bound: this.id - 3, preempted: 2 },
      last60s: {
        scheduled: bound, unschedulable: failed, error: 0, bound, boundPerSecond: bound / 60, attemptsPerSecond: (bound + failed) / 60,
        latencyMs: { p50: 1.3, p90: 2.4, p99: 7.9, max: 14.2, count: bound },
        series: this.series,
      },
      nodes: this.table.count,
      pods: this.table.requested.pods.reduce((a, b) => a + b, 0),
    };
  }

  config(): ConfigView {
    return { profiles: [{ schedulerName: 'default-scheduler', points: [{ point: 'Score', plugins: kPlugins.map(([name, weight]) => ({ name, weight })) }] }] };
  }

  plan(question: PlanQuestion): MappedPlan {
    const gone = question.nodes ?? [];
    const pods = gone.flatMap((from, i) => Array.from({ length: 3 }, (_, p) => ({ namespace: 'default', name: `web-${i}-${p}`, outcome: 'Moves' as const, from, to: this.table.name[(i + p + 7) % this.table.count], equalNodes: 2 })));
    return {
      plan: {
        question: question.question, nodesBefore: this.table.count, nodesAfter: this.table.count - gone.length, moves: pods.length, starts: 0, homeless: 0, blocked: 0, lost: 0, stays: 0, preempted: 0,
        pods, nodes: gone.map((name) => ({ name, change: 'Freed' })),
      },
      nodes: this.table.name.map((name, row) => ({
        name, zone: this.table.zones[this.table.zone[row]], percentBefore: 50, percentAfter: gone.includes(name) ? 0 : 53, podsBefore: 3, podsAfter: gone.includes(name) ? 0 : 4, change: gone.includes(name) ? ('Freed' as const) : undefined,
      })),
    };
  }

  whatIf(request: WhatIfRequest): WhatIfResult {
    const replicas = Number(/replicas:\s*(\d+)/.exec(request.manifests ?? '')?.[1] ?? (request.manifests ? 1 : 0));
    const shift = Object.keys(request.weights ?? {}).length + (request.cordon?.length ?? 0);
    const placements: WhatIfResult['placements'] = Array.from({ length: replicas }, (_, i) => ({
      namespace: 'default', name: `try-5f6d8-${i}`, outcome: 'Placed', node: this.table.name[(i * 3 + shift) % this.table.count], score: 480 - i, feasible: this.table.count, source: 'manifest',
    }));
    for (const pod of request.reschedulePending === false ? [] : this.pendingPods()) {
      placements.push({ namespace: pod.namespace, name: pod.name, outcome: pod.where === 'gated' ? 'Gated' : 'Unschedulable', message: pod.message, source: 'pending' });
    }
    const added = (request.addNodes ?? []).reduce((sum, each) => sum + each.count, 0);
    return {
      placements, placed: replicas, unschedulable: 5, gated: 1, tookMs: 3.4,
      before: { nodes: this.table.count, pods: 800, pending: 6 },
      after: { nodes: this.table.count + added, pods: 800 + replicas, pending: 6 },
      use: ['cpu', 'memory', 'pods', 'example.com/gpu'].map((resource) => {
        const allocatable = this.table.allocatable[resource].reduce((a, b) => a + b, 0);
        const requested = this.table.requested[resource].reduce((a, b) => a + b, 0);
        return { resource, allocatableBefore: allocatable, requestedBefore: requested, allocatableAfter: Math.round(allocatable * (1 + added / this.table.count)), requestedAfter: Math.round(requested * 1.02) };
      }),
    };
  }
}
