// The live stream: one connection for all pages, opened while somebody listens, reopened when it is lost.
import { createStore } from '../lib/store';
import { apiUrl, failure, headers, token } from './client';
import { SseParser } from './sse';

export type StreamState = 'off' | 'connecting' | 'live' | 'lost';
export const streamState = createStore<StreamState>('off');

type Listener = (data: unknown) => void;
const listeners = new Map<string, Set<Listener>>();
let running: AbortController | null = null;

export function listen<T>(event: string, listener: (data: T) => void): () => void {
  const set = listeners.get(event) ?? new Set<Listener>();
  listeners.set(event, set);
  set.add(listener as Listener);
  if (!running) void run();
  return () => {
    set.delete(listener as Listener);
    const left = [...listeners.values()].some((each) => each.size > 0);
    if (!left) {
      running?.abort();
      running = null;
      streamState.set('off');
    }
  };
}

token.subscribe(() => {
  if (!running) return;
  running.abort();
  void run();
});

async function run(): Promise<void> {
  const mine = new AbortController();
  running = mine;
  let pause = 500;
  while (!mine.signal.aborted) {
    if (streamState.get() !== 'lost') streamState.set('connecting');
    try {
      await readOnce(mine.signal, () => {
        pause = 500;
        streamState.set('live');
      });
    } catch {
      // Whatever it was, the next try will tell.
    }
    if (mine.signal.aborted) return;
    streamState.set('lost');
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 8000);
  }
}

async function readOnce(signal: AbortSignal, opened: () => void): Promise<void> {
  const response = await fetch(apiUrl('/stream'), { headers: { accept: 'text/event-stream', ...headers() }, signal, cache: 'no-store' });
  if (!response.ok || !response.body) throw await failure(response);
  opened();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new SseParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const { event, data } of parser.push(value)) deliver(event, data);
  }
}

function deliver(event: string, data: string): void {
  const set = listeners.get(event);
  if (!set || set.size === 0) return;
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return; // one bad event must not end the others
  }
  for (const listener of [...set]) listener(value);
}
