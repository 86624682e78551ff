import { describe, expect, it } from 'vitest';
import { ago, amount, bytes, compact, milliCpu, percent, plural, seconds } from './format';
import { parseQuantity } from './quantity';

describe('numbers as people read them', () => {
  it.each([
    [bytes(0), '0'],
    [bytes(1536), '1.5Ki'],
    [bytes(64 * 2 ** 30), '64Gi'],
    [bytes(1023 * 2 ** 30), '1023Gi'],
    [bytes(3.1 * 2 ** 40), '3.1Ti'],
    [milliCpu(0), '0'],
    [milliCpu(250), '250m'],
    [milliCpu(2550), '2.55'],
    [milliCpu(16000), '16'],
    [milliCpu(1920000), '1,920'],
    [percent(1, 3), '33%'],
    [percent(1, 200), '0.5%'],
    [percent(1, 0), '–'],
    [compact(9999), '9,999'],
    [compact(1234567), '1.2M'],
    [amount('cpu', 1500), '1.5'],
    [amount('memory', 2 ** 20), '1Mi'],
    [amount('example.com/gpu', 4), '4'],
    [plural(1, 'node'), '1 node'],
    [plural(0, 'node'), '0 nodes'],
    [seconds(0.000021), '21 µs'],
    [seconds(0.0013), '1.3 ms'],
    [seconds(75), '1 min 15 s'],
    [seconds(90000), '1 d 1 h'],
    [ago(1000, 1400), 'now'],
    [ago(0, 61000), '1 min 1 s ago'],
  ])('%s', (shown, wanted) => expect(shown).toBe(wanted));
});

describe('quantities', () => {
  it.each([
    ['500m', 0.5],
    ['2Gi', 2 ** 31],
    ['1e3', 1000],
    [' 3 ', 3],
    ['1.5', 1.5],
  ])('%s', (text, value) => expect(parseQuantity(text)).toBeCloseTo(value));
  it.each(['', 'x', '1 Gi', '1GiB', '--1', 'Gi'])('refuses "%s"', (text) => expect(parseQuantity(text)).toBeNull());
});
