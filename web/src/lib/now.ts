// The time, once a second: for ages that grow on the page. Over a recording it is that of the moment shown.
import { useEffect } from 'preact/hooks';
import { timeline } from '../replay/timeline';
import { createStore, useStore } from './store';

const now = createStore(Date.now());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

export function useNow(): number {
  const recorded = useStore(timeline);
  useEffect(() => {
    if (watchers++ === 0) {
      now.set(Date.now());
      timer = setInterval(() => now.set(Date.now()), 1000);
    }
    return () => {
      if (--watchers === 0) clearInterval(timer);
    };
  }, []);
  const wall = useStore(now);
  return recorded ? Date.parse(recorded.at) : wall;
}
