// Talks to the APIs of berth, relative to where the page was served from, so that a proxy's prefix is kept.
import { createStore } from '../lib/store';

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: no answer at all
    message: string,
  ) {
    super(message);
  }
  get needsToken(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

const kTokenKey = 'berth.token';

function readToken(): string {
  try {
    return sessionStorage.getItem(kTokenKey) ?? '';
  } catch {
    return '';
  }
}

// The bearer token is kept for the tab's session only.
export const token = createStore<string>(readToken());

export function setToken(text: string): void {
  const value = text.trim().replace(/^bearer\s+/i, '');
  try {
    if (value === '') sessionStorage.removeItem(kTokenKey);
    else sessionStorage.setItem(kTokenKey, value);
  } catch {
    // Storage may be switched off: the token lives as long as the page then.
  }
  token.set(value);
}

// Whether the last answer asked for (other) credentials.
export const locked = createStore<ApiError | null>(null);

// `path`: below /apis/explain/v1, or of another API with all of it: "/apis/shadow/v1/summary".
export function apiUrl(path: string, query: Record<string, string | number | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(key, String(value));
  }
  const tail = search.toString();
  const whole = path.startsWith('/apis/') ? path : '/apis/explain/v1' + path;
  return new URL('..' + whole + (tail ? '?' + tail : ''), document.baseURI).href;
}

export function headers(): Record<string, string> {
  const value = token.get();
  return value === '' ? {} : { authorization: `Bearer ${value}` };
}

// What went wrong, in the words of the Status object if there is one.
export async function failure(response: Response): Promise<ApiError> {
  let text = '';
  try {
    text = (await response.text()).trim();
    const body = JSON.parse(text) as { message?: string };
    if (body.message) text = body.message;
  } catch {
    // Not JSON: the text as it is.
  }
  const error = new ApiError(response.status, text || `${response.status} ${response.statusText}`);
  if (error.needsToken) locked.set(error);
  return error;
}

export async function ask<T>(url: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers: { accept: 'application/json', ...headers(), ...init.headers } });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiError(0, 'berth does not answer. Is it still running?');
  }
  if (!response.ok) throw await failure(response);
  locked.set(null);
  return (await response.json()) as T;
}

export function get<T>(path: string, query?: Record<string, string | number | undefined>, signal?: AbortSignal): Promise<T> {
  return ask<T>(apiUrl(path, query), { signal, cache: 'no-store' });
}

export function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return ask<T>(apiUrl(path), {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
    signal,
  });
}

export const segment = encodeURIComponent;
