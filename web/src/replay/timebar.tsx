// The bar under the navigation that chooses the moment of a recording: every page shows the cluster as of then.
import { useEffect, useRef, useState } from 'preact/hooks';
import { seconds } from '../lib/format';
import { useStore } from '../lib/store';
import { kSteps, moveTo, outline, placeOf, readTimeline, timeAt, timeline } from './timeline';

const kIdleMs = 2000;
const kMovingMs = 250;
const kSkips = [
  { text: '−10 min', by: -600 },
  { text: '−1 min', by: -60 },
  { text: '+1 min', by: 60 },
  { text: '+10 min', by: 600 },
];

function iso(time: number): string {
  return new Date(time).toISOString();
}

// "2026-05-01 12:00:00.120", UTC as everywhere in recordings.
export function shown(time: number): string {
  return iso(time).replace('T', ' ').replace('Z', '');
}

export function TimeBar() {
  const line = useStore(timeline);
  const [dragged, setDragged] = useState<number | null>(null);
  const [typed, setTyped] = useState<string | null>(null);
  const [error, setError] = useState('');
  const moving = line?.moving ?? true;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    let over = false;
    const read = async () => {
      try {
        await readTimeline();
        setError('');
      } catch (problem) {
        setError((problem as Error).message);
      }
      if (!over) timer.current = setTimeout(() => void read(), moving ? kMovingMs : kIdleMs);
    };
    void read();
    return () => {
      over = true;
      clearTimeout(timer.current);
    };
  }, [moving]);
  if (!line) return <div class="timebar">{error && <span class="dim">{error}</span>}</div>;
  const from = Date.parse(line.from);
  const to = Date.parse(line.to);
  const at = Date.parse(line.at);
  const place = dragged ?? placeOf(at, from, to);
  const go = (time: number) =>
    moveTo({ time: iso(Math.min(Math.max(time, from), to)) }).catch((problem: Error) => setError(problem.message));
  const time = dragged === null ? at : timeAt(dragged, from, to);
  const type = () => {
    const parsed = Date.parse((typed ?? '').trim().replace(' ', 'T').replace(/(\d)$/, '$1Z'));
    setTyped(null);
    if (Number.isFinite(parsed)) void go(parsed);
    else setError('that is not a time such as 2026-05-01 12:00:00');
  };
  return (
    <section class="timebar" aria-label="Moment of the recording">
      <form
        class="timebar-time"
        onSubmit={(event) => {
          event.preventDefault();
          type();
        }}
      >
        <input
          class="field mono"
          aria-label="Time, UTC"
          value={typed ?? shown(time)}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onBlur={() => typed !== null && type()}
        />
      </form>
      <div class="timebar-track">
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          <path d={outline(line.activity)} />
        </svg>
        <input
          type="range"
          min={0}
          max={kSteps}
          value={place}
          aria-label="Moment"
          aria-valuetext={shown(time)}
          onInput={(event) => setDragged(Number(event.currentTarget.value))}
          onChange={(event) => {
            setDragged(null);
            void go(timeAt(Number(event.currentTarget.value), from, to));
          }}
        />
      </div>
      <div class="timebar-skips">
        {kSkips.map((skip) => (
          <button class="btn small" key={skip.by} onClick={() => void go(at + skip.by * 1000)}>
            {skip.text}
          </button>
        ))}
        <button class="btn small" disabled={moving} onClick={() => void moveTo({ nextCycle: true }).catch((problem: Error) => setError(problem.message))}>
          {line.observed ? 'Next change' : 'Next decision'}
        </button>
      </div>
      <p class="timebar-state dim small" role="status">
        {error ||
          (moving
            ? `playing, ${Math.round(100 * line.done)}%`
            : line.trouble
              ? `no further: ${line.trouble}`
              : `run ${line.run}, record ${line.sequence}; ${seconds((to - from) / 1000)} recorded${line.redacted ? ', redacted' : ''}`)}
      </p>
    </section>
  );
}
