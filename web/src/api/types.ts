// The answers of /apis/explain/v1, as docs/explain.schema.json describes them. Amounts are integers: cpu in thousandths, the
// rest whole. Optional fields are absent when empty, zero or false.

export interface Rejection {
  plugin: string;
  reason: string;
  code: 'Unschedulable' | 'UnschedulableAndUnresolvable' | 'Pending' | 'Error';
  nodes: number;
  examples?: string[];
}

export type Outcome = 'Scheduled' | 'Unschedulable' | 'Error';

export interface DecisionSummary {
  id: number;
  time: string;
  namespace: string;
  name: string;
  uid: string;
  profile: string;
  attempt: number;
  outcome: Outcome;
  node?: string;
  score?: number;
  nodes: number;
  evaluated: number;
  feasible: number;
  equal?: number;
  rejections?: Rejection[];
  message?: string;
  nominatedNode?: string;
  victims?: string[];
}

export interface DecisionList {
  items: DecisionSummary[];
  continue?: string;
  total: number;
}

export interface FunnelStep {
  plugin: string;
  point: 'PreFilter' | 'Filter';
  before: number;
  after: number;
  skipped?: boolean;
  reasons: Rejection[];
}

export interface Funnel {
  nodes: number;
  feasible: number;
  steps: FunnelStep[];
}

export interface PluginScore {
  plugin: string;
  raw: number;
  normalized: number;
  weight: number;
  weighted: number;
}

export interface NodeScore {
  node: string;
  rank: number;
  total: number;
  chosen?: boolean;
  scores: PluginScore[];
}

export interface NodeVerdict {
  node: string;
  fits: boolean;
  plugin?: string;
  code?: string;
  reasons?: string[];
  score?: NodeScore;
}

export interface RunnerUp {
  node: string;
  total: number;
  behind: number;
  differences: { plugin: string; chosen: number; runnerUp: number; difference: number }[];
  text: string;
}

export interface Victim {
  namespace: string;
  name: string;
  priority: number;
  violatesPdb?: boolean;
  pdbs?: string[];
}

export interface PreemptionCandidate {
  node: string;
  victims: Victim[];
  pdbViolations: number;
  highestVictimPriority?: number;
  sumOfPriorities?: number;
  chosen?: boolean;
  lost?: string;
}

export interface Preemption {
  message: string;
  nominatedNode?: string;
  candidates: PreemptionCandidate[];
  candidateCount?: number;
  hopeless?: Rejection[];
}

export interface QueueMove {
  time: string;
  from?: string;
  to: string;
  event: string;
  hints?: { plugin: string; says: 'Queue' | 'Skip' }[];
}

export interface QueuePlace {
  where: string;
  attempts: number;
  queuedAt?: string;
  firstAttempt?: string;
  backoffUntil?: string;
  waitsFor?: string[];
  gatedBy?: string;
  history: QueueMove[];
}

export interface Decision {
  record: DecisionSummary;
  recomputed: boolean;
  present?: { outcome: string; node?: string; message: string };
  podNode?: string;
  funnel: Funnel;
  topNodes: NodeScore[];
  runnerUp?: RunnerUp;
  tie?: { total: number; count: number; nodes: string[] };
  node?: NodeVerdict;
  preemption?: Preemption;
  queue: QueuePlace;
  durationsMs?: Record<string, number>;
}

export interface Suggestion {
  kind: string;
  text: string;
  nodes: number;
  examples: string[];
  change?: Record<string, string>;
  patch?: string; // commands, or lines of a manifest
  whatIf?: WhatIfRequest;
}

export interface Cause {
  kind: string;
  text: string;
  remedy?: string;
}

export interface SuggestionList {
  namespace: string;
  name: string;
  feasibleNow: number;
  workload?: string;
  pending?: number;
  message?: string;
  causes?: Cause[];
  items: Suggestion[];
  tried: number;
}

export interface PendingPod {
  namespace: string;
  name: string;
  uid?: string;
  workload?: string;
  where: string;
  attempts: number;
  priority: number;
  profile?: string;
  createdAt?: string;
  queuedAt?: string;
  backoffUntil?: string;
  message?: string;
  rejections?: Rejection[];
  nominatedNode?: string;
}

export interface PendingGroup {
  plugin: string;
  reason: string;
  pods: number;
  nodes?: number;
  examples?: string[];
}

export interface PendingList {
  total: number;
  items: PendingPod[];
  groups: PendingGroup[];
}

export interface NodeTable {
  count: number;
  zones: string[];
  resources: string[];
  name: string[];
  zone: number[];
  schedulable: number[];
  tainted?: number[];
  ready?: number[];
  pools?: string[];
  pool?: number[];
  taints?: string[];
  taint?: number[];
  allocatable: Record<string, number[]>;
  requested: Record<string, number[]>;
}

export interface Amount {
  resource: string;
  allocatable: number;
  requested: number;
  free: number;
}

export interface PodOnNode {
  namespace: string;
  name: string;
  priority: number;
  cpu: number;
  memory: number;
  extended?: Record<string, number>;
  terminating?: boolean;
  assumed?: boolean;
}

export interface NodeDetail {
  name: string;
  zone?: string;
  schedulable: boolean;
  labels?: Record<string, string>;
  taints?: string[];
  amounts: Amount[];
  pods: PodOnNode[];
  nominated?: string[];
}

export interface QueueState {
  time: string;
  counts: {
    active: number;
    backoff: number;
    unschedulable: number;
    gated: number;
    inFlight: number;
    waiting: number;
    binding: number;
  };
  totals: { scheduled: number; unschedulable: number; error: number; bound: number; preempted: number };
  last60s: {
    scheduled: number;
    unschedulable: number;
    error: number;
    bound: number;
    boundPerSecond: number;
    attemptsPerSecond: number;
    latencyMs: { p50: number; p90: number; p99: number; max: number; count: number };
    series?: { bound: number[]; failed: number[] };
  };
  nodes?: number;
  pods?: number;
}

export interface ConfigView {
  profiles: {
    schedulerName: string;
    percentageOfNodesToScore?: number;
    points: { point: string; plugins: { name: string; weight?: number }[] }[];
  }[];
}

export interface WhatIfRequest {
  manifests?: string;
  cordon?: string[];
  uncordon?: string[];
  removeNodes?: string[];
  addNodes?: { like: string; count: number }[];
  weights?: Record<string, number>;
  reschedulePending?: boolean;
  profile?: string;
}

export interface WhatIfPlacement {
  namespace: string;
  name: string;
  outcome: 'Placed' | 'Unschedulable' | 'Gated' | 'Preempted' | 'Error' | 'Foreign';
  node?: string;
  before?: string;
  message?: string;
  score?: number;
  feasible?: number;
  equal?: number;
  victims?: string[];
  scores?: PluginScore[];
  source?: 'manifest' | 'pending' | 'removedNode';
}

export interface WhatIfUse {
  resource: string;
  allocatableBefore: number;
  requestedBefore: number;
  allocatableAfter: number;
  requestedAfter: number;
}

export interface WhatIfResult {
  placements: WhatIfPlacement[];
  placed?: number;
  unschedulable?: number;
  gated?: number;
  preempted?: number;
  errors?: number;
  before: { nodes: number; pods: number; pending: number };
  after: { nodes: number; pods: number; pending: number };
  use: WhatIfUse[];
  notes?: string[];
  tookMs: number;
}

export interface PodGroupSummary {
  namespace: string;
  name: string;
  uid?: string;
  state: 'Incomplete' | 'Waiting' | 'Scheduled' | 'Running' | 'Finished';
  minCount?: number;
  pods: number;
  placed: number;
  priority?: number;
  profile?: string;
  workload?: string;
  topology?: string;
  createdAt?: string;
  reason?: string;
  message?: string;
}

export interface PodGroupList {
  followed: boolean;
  total: number;
  items: PodGroupSummary[];
}

export interface GroupBlocker {
  pod: string;
  pods: number;
  message: string;
}

export interface PodGroupMember {
  name: string;
  node?: string;
  outcome: 'Placed' | 'Fits' | 'Unschedulable' | 'NotTried' | 'Gated';
  wouldGo?: string;
  message?: string;
}

export interface PodGroupDomain {
  name: string;
  nodes: number;
  fits: number;
  enough?: boolean;
  message?: string;
}

export interface PodGroupView {
  group: PodGroupSummary;
  outcome?: 'Placed' | 'Unschedulable' | 'Gated' | 'Error';
  message?: string;
  needed: number;
  best: number;
  bestDomain?: string;
  bestNodes?: { node: string; pods: number }[];
  blockers?: GroupBlocker[];
  members: PodGroupMember[];
  domainKey?: string;
  domains?: PodGroupDomain[];
  domainCount?: number;
  domainsTried?: number;
  preemption?: string;
  victims?: string[];
  help: Suggestion[];
  tried?: number;
}

// --- plans: docs/plan.schema.json

export interface PlanQuestion {
  question: string;
  nodes?: string[];
  selector?: string;
  pool?: string;
  zone?: string;
  count?: number;
  maxDisruption?: number;
}

export interface PlanStep {
  namespace: string;
  name: string;
  workload?: string;
  outcome: 'Moves' | 'Starts' | 'Homeless' | 'Blocked' | 'Lost';
  from?: string;
  to?: string;
  equalNodes?: number;
  preemptedBy?: string;
  message?: string;
}

export interface PlanNode {
  name: string;
  pool?: string;
  zone?: string;
  percentBefore: number;
  percentAfter: number;
  podsBefore: number;
  podsAfter: number;
  change?: 'Freed' | 'Kept' | 'Lost' | 'Added';
}

export interface MappedPlan {
  plan: {
    question: string;
    nodesBefore: number;
    nodesAfter: number;
    moves: number;
    starts: number;
    homeless: number;
    blocked: number;
    lost: number;
    stays: number;
    preempted: number;
    pods: PlanStep[] | null;
    nodes: { name: string; change: string; pods?: number }[] | null;
    budgets?: { namespace: string; name: string; refused: number; healthy: number; desired: number }[];
    assumptions?: string[];
    warnings?: string[];
    excessBefore?: number;
    excessAfter?: number;
  };
  nodes: PlanNode[] | null;
}
