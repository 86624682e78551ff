// useApi: a document of the API in a component, read again every so often while the tab is looked at.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useStore } from '../lib/store';
import { ApiError, get, token } from './client';

export interface Loaded<T> {
  data: T | null; // the last good answer, also while a newer one is awaited or has failed
  error: ApiError | null;
  loading: boolean;
  reload: () => void;
}

export function useApi<T>(
  path: string | null,
  query: Record<string, string | number | undefined> = {},
  everyMs = 0,
): Loaded<T> {
  const key = path === null ? null : path + '?' + JSON.stringify(query);
  const [state, setState] = useState<{ key: string | null; data: T | null; error: ApiError | null; loading: boolean }>({
    key: null,
    data: null,
    error: null,
    loading: true,
  });
  const [round, setRound] = useState(0);
  const credential = useStore(token);
  const latest = useRef(key);
  latest.current = key;

  useEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      try {
        const data = await get<T>(path, query, abort.signal);
        if (latest.current === key) setState({ key, data, error: null, loading: false });
      } catch (error) {
        if (abort.signal.aborted) return;
        const known = error instanceof ApiError ? error : new ApiError(0, String(error));
        setState((old) => ({ key, data: old.key === key ? old.data : null, error: known, loading: false }));
      }
      if (everyMs > 0 && !abort.signal.aborted) timer = setTimeout(tick, everyMs);
    };
    const tick = () => {
      if (document.visibilityState === 'visible') void read();
      else timer = setTimeout(tick, everyMs);
    };
    setState((old) => (old.key === key ? { ...old, loading: true } : { key, data: null, error: null, loading: true }));
    void read();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, round, credential, everyMs]);

  const current = state.key === key ? state : { data: null, error: null, loading: path !== null };
  return { data: current.data, error: current.error, loading: current.loading, reload: () => setRound((n) => n + 1) };
}
