// Plans: what is asked, and how the answer is grouped for the map.
import type { MappedPlan, PlanNode, PlanQuestion } from '../../api/types';

export type Kind = 'drain' | 'outage' | 'shrink' | 'consolidate' | 'upgrade' | 'restore-spread';

export const kKinds: { value: Kind; text: string; about: string }[] = [
  { value: 'drain', text: 'Drain', about: 'These nodes are cordoned and their pods evicted.' },
  { value: 'outage', text: 'Outage', about: 'These nodes vanish at once.' },
  { value: 'shrink', text: 'Shrink', about: 'So many of these nodes go, those that disturb least.' },
  { value: 'consolidate', text: 'Consolidate', about: 'As many of these nodes go as can. Without a choice: of all.' },
  { value: 'upgrade', text: 'Upgrade', about: 'These nodes are replaced by new ones like them.' },
  { value: 'restore-spread', text: 'Restore spread', about: 'Pods move until spread constraints hold again.' },
];

export interface Draft {
  kind: Kind;
  nodes: string; // "pool=spot", "zone=a", "key=value", or names
  count: string;
  most: string; // evictions
}

export const kEmpty: Draft = { kind: 'drain', nodes: '', count: '1', most: '' };

// The question in the words of the API.
export function toQuestion(draft: Draft): PlanQuestion {
  const question: PlanQuestion = { question: draft.kind };
  const text = draft.nodes.trim();
  if (draft.kind !== 'restore-spread' && text !== '') {
    if (text.startsWith('pool=')) question.pool = text.slice(5);
    else if (text.startsWith('zone=')) question.zone = text.slice(5);
    else if (text.includes('=')) question.selector = text;
    else question.nodes = text.split(/[\s,]+/);
  }
  if (draft.kind === 'shrink') question.count = Math.max(1, Math.round(Number(draft.count) || 1));
  const most = Number(draft.most);
  if (draft.most.trim() !== '' && most >= 0) question.maxDisruption = Math.round(most);
  return question;
}

export function fromQuery(query: Record<string, string>): Draft {
  const kind = kKinds.find((each) => each.value === query.q)?.value ?? kEmpty.kind;
  return { kind, nodes: query.nodes ?? '', count: query.count ?? kEmpty.count, most: query.most ?? '' };
}

export function toQuery(draft: Draft): Record<string, string | undefined> {
  return { q: draft.kind, nodes: draft.nodes, count: draft.kind === 'shrink' ? draft.count : undefined, most: draft.most };
}

export interface Group {
  name: string;
  nodes: PlanNode[];
}

// By pool and zone, in the order of the answer.
export function groups(nodes: PlanNode[]): Group[] {
  const found = new Map<string, Group>();
  for (const node of nodes) {
    const name = [node.pool, node.zone].filter(Boolean).join(' · ') || 'nodes';
    const group = found.get(name) ?? { name, nodes: [] };
    group.nodes.push(node);
    found.set(name, group);
  }
  return [...found.values()];
}

export const isGone = (node: PlanNode) => node.change === 'Freed' || node.change === 'Lost';
export const isThere = (node: PlanNode, after: boolean) => (after ? !isGone(node) : node.change !== 'Added');

// 0 to 9, as the colours of the map.
export const heat = (percent: number) => Math.max(0, Math.min(9, Math.floor(percent / 10)));

export function works({ plan }: MappedPlan): boolean {
  return plan.homeless === 0 && plan.blocked === 0 && plan.lost === 0;
}

// The command that gives the same answer in a terminal.
export function command(draft: Draft): string {
  const q = toQuestion(draft);
  const words = ['berth plan', q.question, ...(q.nodes ?? [])];
  if (q.pool) words.push('--pool', q.pool);
  if (q.zone) words.push('--zone', q.zone);
  if (q.selector) words.push('--selector', q.selector);
  if (q.count) words.push('--count', String(q.count));
  if (q.maxDisruption !== undefined) words.push('--max-disruption', String(q.maxDisruption));
  return [...words, '--kubeconfig FILE'].join(' ');
}
