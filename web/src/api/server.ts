// Which APIs the server has: the page shows what they serve. `berth scheduler` and `berth up` explain, `berth shadow`
// compares, `berth replay --serve` explains a recording.
import { createStore } from '../lib/store';

export type Api = 'explain' | 'shadow' | 'replay';
export const apis = createStore<readonly Api[] | null>(null);

export async function askForApis(): Promise<void> {
  try {
    const response = await fetch(new URL('apis.json', document.baseURI).href, { cache: 'no-store' });
    if (!response.ok) throw new Error(response.statusText);
    apis.set(((await response.json()) as { apis: Api[] }).apis);
  } catch {
    apis.set(['explain']); // a server that does not say
  }
}
