// The time of the wall, once a second: for ages that grow on the page.
import { useEffect } from 'preact/hooks';
import { createStore, useStore } from './store';

const now = createStore(Date.now());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

export function useNow(): number {
  useEffect(() => {
    if (watchers++ === 0) {
      now.set(Date.now());
      timer = setInterval(() => now.set(Date.now()), 1000);
    }
    return () => {
      if (--watchers === 0) clearInterval(timer);
    };
  }, []);
  return useStore(now);
}
