// Pending pods by the reason that keeps most nodes from them.
import type { PendingGroup, PendingPod } from '../../api/types';

export interface Group {
  plugin: string;
  reason: string;
  pods: PendingPod[];
  total: number; // also pods beyond those listed
}

export const has = (pod: PendingPod, plugin: string, reason: string): boolean =>
  (pod.rejections ?? []).some((each) => each.plugin === plugin && each.reason === reason);

// One group per reason; a pod with several reasons is in several, as in the server's counts.
export function groupPending(groups: PendingGroup[], items: PendingPod[]): Group[] {
  const out: Group[] = groups.map((group) => ({
    plugin: group.plugin,
    reason: group.reason,
    total: group.pods,
    pods: items.filter((pod) => has(pod, group.plugin, group.reason)),
  }));
  const placed = new Set(out.flatMap((group) => group.pods));
  const rest = items.filter((pod) => !placed.has(pod));
  for (const pod of rest) {
    const reason = pod.where === 'gated' ? pod.message || 'waits for a scheduling gate' : pod.attempts === 0 ? 'not tried yet' : pod.message || 'no reason recorded';
    // Server groups without rejections on the pods (gates) are matched by their examples.
    const known =
      out.find((_, i) => groups[i]?.examples?.includes(`${pod.namespace}/${pod.name}`)) ??
      out.find((group) => group.plugin === '' && group.reason === reason) ??
      out.find((group) => pod.where === 'gated' && group.plugin === 'SchedulingGates');
    if (known) {
      known.pods.push(pod);
      known.total = Math.max(known.total, known.pods.length);
    } else {
      out.push({ plugin: '', reason, pods: [pod], total: 1 });
    }
  }
  return out.sort((a, b) => b.total - a.total);
}

// Pods of one workload that wait for the same reasons are one entry, at the place of the first.
export function groupWorkloads(pods: PendingPod[]): { pods: PendingPod[] }[] {
  const groups = new Map<string, { pods: PendingPod[] }>();
  for (const pod of pods) {
    const alone = !pod.workload;
    const key = alone ? `${pod.namespace}/${pod.name}` : JSON.stringify([pod.namespace, pod.workload, pod.message ?? '', pod.where === 'gated']);
    const group = groups.get(key);
    if (group) group.pods.push(pod);
    else groups.set(key, { pods: [pod] });
  }
  return [...groups.values()];
}
