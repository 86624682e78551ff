// Small parts shared by the pages.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ApiError } from '../api/client';
import { percent } from '../lib/format';
import { href } from '../lib/router';
import { AlertIcon } from './icons';

export function PageHead(props: { title: ComponentChildren; lede?: ComponentChildren; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // A new page begins at its heading, for those who listen too. Not on the first load: there the browser begins at the top.
  useEffect(() => {
    if (navigated) heading.current?.focus({ preventScroll: true });
    navigated = true;
  }, []);
  return (
    <header class="page-head">
      <div>
        <h1 tabIndex={-1} ref={heading}>
          {props.title}
        </h1>
        {props.lede && <p class="lede">{props.lede}</p>}
      </div>
      {props.children && <div class="tools">{props.children}</div>}
    </header>
  );
}
let navigated = false;

export function Panel(props: {
  title?: ComponentChildren;
  hint?: ComponentChildren;
  note?: ComponentChildren;
  flush?: boolean;
  class?: string;
  label?: string;
  children: ComponentChildren;
}) {
  return (
    <section class={`panel ${props.class ?? ''}`} aria-label={props.label}>
      {props.title && (
        <div class="panel-head">
          <h2>{props.title}</h2>
          {props.hint && <div class="hint">{props.hint}</div>}
        </div>
      )}
      <div class={props.flush ? 'panel-body flush' : 'panel-body'}>{props.children}</div>
      {props.note && <div class="panel-note">{props.note}</div>}
    </section>
  );
}

export function Empty(props: { icon?: JSX.Element; title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      {props.icon}
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

export function Failure({ error, retry }: { error: ApiError; retry?: () => void }) {
  const title =
    error.status === 0
      ? 'No answer'
      : error.status === 404
        ? 'Not found'
        : error.status === 503
          ? 'Not ready yet'
          : `The server answered ${error.status}`;
  return (
    <div class="panel" role="alert">
      <Empty icon={<AlertIcon />} title={title}>
        <p>{error.message}</p>
        {retry && (
          <button class="btn" onClick={retry}>
            Try again
          </button>
        )}
      </Empty>
    </div>
  );
}

// Above data that could not be renewed.
export function Stale({ error }: { error: ApiError | null }) {
  if (!error) return null;
  return (
    <div class="banner bad" role="status">
      <span>Data is stale: {error.message}</span>
    </div>
  );
}

export function Loading({ height = 240 }: { height?: number }) {
  return (
    <div class="skeleton" style={{ height: `${height}px` }} role="status">
      <span class="sr">Loading</span>
    </div>
  );
}

export function Segmented<T extends string>(props: {
  label: string;
  value: T;
  options: { value: T; text: ComponentChildren }[];
  onChange: (value: T) => void;
}) {
  return (
    <div class="seg" role="group" aria-label={props.label}>
      {props.options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === props.value}
          onClick={() => props.onChange(option.value)}
        >
          {option.text}
        </button>
      ))}
    </div>
  );
}

export function UseBar({ part, whole, label, plain }: { part: number; whole: number; label?: string; plain?: boolean }) {
  const share = whole > 0 ? Math.min(1, part / whole) : 0;
  const tone = plain ? '' : share >= 0.97 ? 'bad' : share >= 0.85 ? 'warn' : '';
  return (
    <span class={`bar ${tone}`} role="img" aria-label={label ?? percent(part, whole)}>
      <i style={{ width: `${(share * 100).toFixed(1)}%` }} />
    </span>
  );
}

const kTones: Record<string, string> = {
  Scheduled: 'good',
  Placed: 'good',
  Unschedulable: 'warn',
  Preempted: 'warn',
  Error: 'bad',
};

export function OutcomeBadge({ outcome }: { outcome: string }) {
  return <span class={`badge ${kTones[outcome] ?? ''}`}>{outcome}</span>;
}

export function PodLink({ namespace, name }: { namespace: string; name: string }) {
  return (
    <a class="name" href={href('decisions', [namespace, name])}>
      <span class="ns">{namespace}/</span>
      {name}
    </a>
  );
}

export function NodeLink({ name }: { name: string }) {
  return <a href={href('cluster', [name])}>{name}</a>;
}

