// What the page of groups works out of the API's answers.
import type { PodGroupDomain, PodGroupList, PodGroupMember, PodGroupSummary } from '../../api/types';
import { plural } from '../../lib/format';

export function filterGroups(groups: PodGroupSummary[], text: string): PodGroupSummary[] {
  const wanted = text.toLowerCase();
  return groups.filter((group) => `${group.namespace}/${group.name} ${group.workload ?? ''}`.toLowerCase().includes(wanted));
}

export function groupsLede(list: PodGroupList, namespace: string): string {
  if (list.total === 0) return 'Pods that are placed together or not at all';
  const waiting = list.items.filter((group) => group.state === 'Waiting' || group.state === 'Incomplete').length;
  const where = namespace ? ` in ${namespace}` : '';
  return `${plural(list.total, 'group')}${where}, ${waiting === 0 ? 'none waits' : waiting === 1 ? '1 waits' : `${waiting} wait`}`;
}

export interface MemberCounts {
  placed: number;
  fits: number;
  blocked: number;
  other: number;
}

export function countMembers(members: PodGroupMember[]): MemberCounts {
  const counts = { placed: 0, fits: 0, blocked: 0, other: 0 };
  for (const member of members) {
    if (member.outcome === 'Placed') counts.placed++;
    else if (member.outcome === 'Fits') counts.fits++;
    else if (member.outcome === 'Unschedulable') counts.blocked++;
    else counts.other++;
  }
  return counts;
}

// The share of the pods that must be placed, for a bar: more than enough is full.
export function domainShare(domain: PodGroupDomain, needed: number): number {
  return needed <= 0 ? 1 : Math.min(1, domain.fits / needed);
}
