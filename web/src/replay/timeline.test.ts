import { describe, expect, it } from 'vitest';
import { kSteps, outline, placeOf, timeAt } from './timeline';

describe('the slider', () => {
  it('goes from the beginning to the end', () => {
    expect(placeOf(100, 100, 300)).toBe(0);
    expect(placeOf(200, 100, 300)).toBe(kSteps / 2);
    expect(placeOf(999, 100, 300)).toBe(kSteps);
    expect(timeAt(kSteps / 2, 100, 300)).toBe(200);
  });
  it('stands at the end of a recording without length', () => {
    expect(placeOf(100, 100, 100)).toBe(kSteps);
  });
});

describe('the outline of the activity', () => {
  it('is closed and scaled to the busiest part', () => {
    expect(outline([0, 4, 1])).toBe('M0 100L0.00 100.0L33.33 100.0L33.33 0.0L66.67 0.0L66.67 50.0L100.00 50.0L100 100Z');
  });
});
