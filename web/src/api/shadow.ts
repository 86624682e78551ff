// What /apis/shadow/v1 answers: docs/shadow.md.
export const kOutcomes = ['Same', 'Tie', 'Sampled', 'Race', 'ScoreGap', 'Infeasible', 'WeWait', 'TheyWait', 'Preemption'] as const;
export type Outcome = (typeof kOutcomes)[number];

export interface ShadowOverview {
  status: {
    server: string;
    kubernetesVersion: string;
    seconds: number;
    nodes: number;
    pending: number;
    open: number;
    synced: boolean;
    lagSeconds: number;
  };
  summary: {
    compared: number;
    bound: number;
    unexplained: number;
    unseen: number;
    outcomes: Record<string, number>; // "scoreGap"
  };
  suspicions?: string[];
}

export interface Comparison {
  time: string;
  uid: string;
  namespace: string;
  name: string;
  decision: string;
  outcome: Outcome;
  firstOutcome?: string;
  theirNode?: string;
  ourNode?: string;
  theirTotal?: number;
  ourTotal?: number;
  scores?: { plugin: string; weight: number; ours: number; theirs: number }[];
  plugin?: string;
  reason?: string;
  theirMessage?: string;
  explanation?: string;
}

export interface ComparisonList {
  items: Comparison[] | null; // null: none
  total: number;
}

export interface OutcomeRow {
  outcome: Outcome;
  count: number;
  tone: '' | 'good' | 'warn' | 'bad';
  meaning: string;
}

const kMeanings: Record<Outcome, string> = {
  Same: 'the same node, or both found none',
  Tie: 'another node with the same total',
  Sampled: 'a better node was not among those that kube-scheduler sampled',
  Race: 'equal on a state of the cluster within the lag window',
  ScoreGap: 'the chosen node has a lower total here',
  Infeasible: 'a filter rejects the chosen node here',
  WeWait: 'they placed the pod, berth finds no node',
  TheyWait: 'they found no node, berth does',
  Preemption: 'both find no node, and preempt differently',
};

export function isUnexplained(outcome: Outcome): boolean {
  return kOutcomes.indexOf(outcome) > kOutcomes.indexOf('Race');
}

export function outcomeRows(outcomes: Record<string, number>): OutcomeRow[] {
  return kOutcomes.map((outcome) => {
    const count = outcomes[outcome[0].toLowerCase() + outcome.slice(1)] ?? 0;
    const tone = count === 0 ? '' : isUnexplained(outcome) ? 'bad' : outcome === 'Race' ? 'warn' : 'good';
    return { outcome, count, tone, meaning: kMeanings[outcome] };
  });
}
