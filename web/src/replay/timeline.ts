// The moment of a recording that is shown, and the time that there is. Only `berth replay --serve` has it.
import { ask, apiUrl } from '../api/client';
import { createStore } from '../lib/store';

export interface Timeline {
  from: string;
  to: string;
  at: string;
  run: number;
  sequence: number;
  moving: boolean;
  done: number; // 0 to 1
  moves: number;
  observed: boolean;
  redacted: boolean;
  trouble?: string;
  runs: { run: number; from: string; to: string }[];
  activity: number[];
}

export const timeline = createStore<Timeline | null>(null);

const kPath = '/apis/replay/v1';

export async function readTimeline(): Promise<void> {
  timeline.set(await ask<Timeline>(apiUrl(`${kPath}/timeline`), { cache: 'no-store' }));
}

export async function moveTo(moment: { time: string } | { nextCycle: true }): Promise<void> {
  timeline.set(
    await ask<Timeline>(apiUrl(`${kPath}/moment`), {
      method: 'PUT',
      body: JSON.stringify(moment),
      headers: { 'content-type': 'application/json' },
    }),
  );
}

// A place on the slider, 0 to 1000, and back.
export const kSteps = 1000;

export function placeOf(time: number, from: number, to: number): number {
  return to > from ? Math.round((kSteps * (Math.min(Math.max(time, from), to) - from)) / (to - from)) : kSteps;
}

export function timeAt(place: number, from: number, to: number): number {
  return from + ((to - from) * place) / kSteps;
}

// The activity as the outline of an area, 100 wide and 100 high; a square root, so that bursts do not hide the rest.
export function outline(activity: number[]): string {
  const most = Math.max(1, ...activity);
  const step = 100 / Math.max(1, activity.length);
  const points = activity.map((n, i) => {
    const y = (100 - 100 * Math.sqrt(n / most)).toFixed(1);
    return `L${(i * step).toFixed(2)} ${y}L${((i + 1) * step).toFixed(2)} ${y}`;
  });
  return `M0 100${points.join('')}L100 100Z`;
}
