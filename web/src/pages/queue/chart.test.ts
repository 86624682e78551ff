import { expect, it } from 'vitest';
import { roundUp } from './chart';

it.each([
  [0, 1],
  [1, 1],
  [3, 5],
  [5, 5],
  [11, 20],
  [64, 100],
  [2001, 5000],
])('the scale for %d goes to %d', (value, top) => expect(roundUp(value)).toBe(top));
