// Light or dark: the system's unless somebody chose.
import { createStore } from './store';

export type Theme = 'light' | 'dark';

function current(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

export const theme = createStore<Theme>(current());
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => theme.set(current()));

export function toggleTheme(): void {
  const next: Theme = current() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem('berth.theme', next);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  theme.set(next);
}
