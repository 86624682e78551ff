// Routes live in the fragment, so that every view is a link and the server needs to know one file only:
//   #/cluster?by=memory   #/cluster/node-0003   #/decisions/default/web-1   #/whatif
import { createStore, useStore } from './store';

export interface Route {
  page: string;
  args: string[];
  query: Record<string, string>;
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#?\/?/, '');
  const [path, search = ''] = text.split('?', 2);
  const parts = path.split('/').filter((part) => part !== '').map(decode);
  const query: Record<string, string> = {};
  for (const [key, value] of new URLSearchParams(search)) query[key] = value;
  return { page: parts[0] ?? 'cluster', args: parts.slice(1), query };
}

export function href(page: string, args: string[] = [], query: Record<string, string | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(key, value);
  }
  const tail = search.toString();
  return '#/' + [page, ...args].map(encodeURIComponent).join('/') + (tail ? '?' + tail : '');
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // somebody typed a lone "%"
  }
}

const current = createStore<Route>(parseRoute(typeof location === 'undefined' ? '' : location.hash));
if (typeof window !== 'undefined') {
  window.addEventListener('hashchange', () => current.set(parseRoute(location.hash)));
}

export const useRoute = (): Route => useStore(current);

export function go(to: string, replace = false): void {
  if (replace) {
    history.replaceState(null, '', to);
    current.set(parseRoute(to));
  } else {
    location.hash = to;
  }
}
