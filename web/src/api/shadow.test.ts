import { describe, expect, it } from 'vitest';
import { isUnexplained, outcomeRows } from './shadow';

describe('outcomes of shadow mode', () => {
  it('read the counts by their JSON names', () => {
    const rows = outcomeRows({ same: 5, scoreGap: 2, race: 1 });
    expect(rows.map((row) => [row.outcome, row.count, row.tone])).toEqual([
      ['Same', 5, 'good'],
      ['Tie', 0, ''],
      ['Sampled', 0, ''],
      ['Race', 1, 'warn'],
      ['ScoreGap', 2, 'bad'],
      ['Infeasible', 0, ''],
      ['WeWait', 0, ''],
      ['TheyWait', 0, ''],
      ['Preemption', 0, ''],
    ]);
  });

  it('are explained up to a race', () => {
    expect(isUnexplained('Race')).toBe(false);
    expect(isUnexplained('ScoreGap')).toBe(true);
  });
});
