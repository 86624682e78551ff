// Decisions from the stream and from the list as one, newest first, each once.
import type { DecisionSummary } from '../../api/types';

export function merge(fresh: DecisionSummary[], listed: DecisionSummary[]): DecisionSummary[] {
  const seen = new Map<number, DecisionSummary>();
  for (const each of listed) seen.set(each.id, each);
  for (const each of fresh) if (!seen.has(each.id)) seen.set(each.id, each);
  return [...seen.values()].sort((a, b) => b.id - a.id);
}

export interface Wanted {
  outcome: string;
  namespace: string;
  workload: string; // pods called so, or so and "-…"
  text: string; // part of a pod's or node's name
}

// Does a decision of the stream pass the filters that the server applies to its list?
export function matches(each: DecisionSummary, { outcome, namespace, workload, text }: Wanted): boolean {
  const part = text.toLowerCase();
  return (
    (outcome === '' || each.outcome === outcome) &&
    (namespace === '' || each.namespace === namespace) &&
    (workload === '' || each.name === workload || each.name.startsWith(workload + '-')) &&
    (`${each.namespace}/${each.name}`.toLowerCase().includes(part) || (each.node ?? '').toLowerCase().includes(part))
  );
}
