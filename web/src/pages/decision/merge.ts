// Decisions from the stream and from the list as one, newest first, each once.
import type { DecisionSummary } from '../../api/types';

export function merge(fresh: DecisionSummary[], listed: DecisionSummary[]): DecisionSummary[] {
  const seen = new Map<number, DecisionSummary>();
  for (const each of listed) seen.set(each.id, each);
  for (const each of fresh) if (!seen.has(each.id)) seen.set(each.id, each);
  return [...seen.values()].sort((a, b) => b.id - a.id);
}
