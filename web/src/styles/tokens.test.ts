import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

// CSS cannot say "these, or these when the system is dark" once: the dark colours stand there twice.
test('the chosen dark theme and the system\'s are the same', () => {
  const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
  const colours = (selector: string) => {
    const body = css.slice(css.indexOf(selector) + selector.length);
    return body.slice(body.indexOf('{') + 1, body.indexOf('}')).replace(/\s+/g, ' ');
  };
  const chosen = colours(":root[data-theme='dark']");
  expect(chosen).toContain('--heat-9');
  expect(colours(':root:not([data-theme])')).toBe(chosen);
});
