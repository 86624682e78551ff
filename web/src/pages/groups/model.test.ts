import { describe, expect, it } from 'vitest';
import type { PodGroupMember, PodGroupSummary } from '../../api/types';
import { countMembers, domainShare, filterGroups, groupsLede } from './model';

const group = (name: string, state: PodGroupSummary['state'], workload = ''): PodGroupSummary => ({
  namespace: 'ml',
  name,
  state,
  pods: 4,
  placed: 0,
  workload,
});

describe('groups', () => {
  it('are found by name and workload', () => {
    const groups = [group('first', 'Running', 'Job/train'), group('second', 'Waiting')];
    expect(filterGroups(groups, 'TRAIN').map((each) => each.name)).toEqual(['first']);
    expect(filterGroups(groups, 'ml/s').map((each) => each.name)).toEqual(['second']);
    expect(filterGroups(groups, '')).toHaveLength(2);
  });

  it.each([
    [[], 'Pods that are placed together or not at all'],
    [[group('a', 'Running')], '1 group, none waits'],
    [[group('a', 'Waiting'), group('b', 'Running')], '2 groups, 1 waits'],
    [[group('a', 'Waiting'), group('b', 'Incomplete')], '2 groups, 2 wait'],
  ] as [PodGroupSummary[], string][])('are counted in the lede', (items, text) => {
    expect(groupsLede({ followed: true, total: items.length, items }, '')).toBe(text);
  });

  it('the lede names the namespace', () => {
    expect(groupsLede({ followed: true, total: 1, items: [group('a', 'Waiting')] }, 'ml')).toBe('1 group in ml, 1 waits');
  });

  it('members are counted by outcome', () => {
    const outcomes: PodGroupMember['outcome'][] = ['Placed', 'Fits', 'Fits', 'Unschedulable', 'Gated', 'NotTried'];
    expect(countMembers(outcomes.map((outcome, i) => ({ name: `p${i}`, outcome })))).toEqual({ placed: 1, fits: 2, blocked: 1, other: 2 });
  });

  it.each([
    [0, 4, 0],
    [2, 4, 0.5],
    [6, 4, 1],
    [0, 0, 1],
  ])('%d of %d needed is %d of the bar', (fits, needed, share) => {
    expect(domainShare({ name: 'a', nodes: 1, fits }, needed)).toBe(share);
  });
});
