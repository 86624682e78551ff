// What-if: pods, nodes and weights that are not (yet) there, and where pods would go then. Nothing in the cluster is touched.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, get, post, segment } from '../../api/client';
import type { ConfigView, NodeTable, SuggestionList, WhatIfResult } from '../../api/types';
import { useApi } from '../../api/use';
import { plural } from '../../lib/format';
import { go, href, type Route } from '../../lib/router';
import { createStore, useStore } from '../../lib/store';
import { CloseIcon, WhatIfIcon } from '../../ui/icons';
import { Empty, Failure, Loading, PageHead, Panel } from '../../ui/parts';
import { changesCluster, decodeDraft, encodeDraft, fromQuery, fromRequest, kEmpty, kExamples, nodeGroups, nodesNamed, scorePlugins, toRequest, unchanged, type Draft } from './model';
import { Results } from './results';

interface Answer {
  result: WhatIfResult;
  base: WhatIfResult | null;
}

// Both outlive the page: one looks at a node and comes back.
const draftStore = createStore<Draft>({ ...kEmpty, manifests: kExamples[0].text });
const answerStore = createStore<Answer | null>(null);

export function WhatIfPage({ route }: { route: Route }) {
  const draft = useStore(draftStore);
  const answer = useStore(answerStore);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const running = useRef<AbortController | null>(null);
  const results = useRef<HTMLDivElement>(null);
  const config = useApi<ConfigView>('/config');
  const nodes = useApi<NodeTable>('/nodes');
  // The draft is part of the address, so that it can be linked and survives a reload.
  const setDraft = (next: Draft) => {
    draftStore.set(next);
    go(href('whatif', [], { d: encodeDraft(next) }), true);
  };
  const change = (part: Partial<Draft>) => setDraft({ ...draftStore.get(), ...part });
  useEffect(() => {
    const { d, from, suggestion, kind } = route.query;
    if (from) {
      void follow(from, Number(suggestion), kind);
    } else if (d) {
      const linked = d === encodeDraft(draftStore.get()) ? null : decodeDraft(d);
      if (linked) draftStore.set(linked);
    } else {
      const asked = fromQuery(route.query);
      if (Object.keys(asked).length > 0) change(asked);
    }
  }, [route]);
  useEffect(() => () => running.current?.abort(), []);

  // A suggestion of a pending pod, tried.
  const follow = async (pod: string, place: number, kind: string | undefined) => {
    setBusy(true);
    setError(null);
    try {
      const [namespace, name] = pod.split('/', 2);
      const list = await get<SuggestionList>(`/pods/${segment(namespace ?? '')}/${segment(name ?? '')}/suggestions`);
      const same = (each: SuggestionList['items'][number] | undefined) => each?.whatIf !== undefined && (!kind || each.kind === kind);
      const chosen = same(list.items[place]) ? list.items[place] : list.items.find(same);
      if (!chosen?.whatIf) throw new ApiError(404, `What helped ${pod} does not any more, or it has a node.`);
      setDraft(fromRequest(chosen.whatIf));
      await run();
    } catch (problem) {
      setError(problem instanceof ApiError ? problem : new ApiError(0, String(problem)));
      setBusy(false);
    }
  };

  const run = async () => {
    const draft = draftStore.get();
    running.current?.abort();
    const mine = new AbortController();
    running.current = mine;
    setBusy(true);
    setError(null);
    try {
      const result = await post<WhatIfResult>('/whatif', toRequest(draft), mine.signal);
      const base = changesCluster(draft) ? await post<WhatIfResult>('/whatif', unchanged(draft), mine.signal) : null;
      answerStore.set({ result, base });
      // On a narrow screen the answer is below what was asked.
      if (matchMedia('(max-width: 1000px)').matches) results.current?.scrollIntoView({ block: 'start', behavior: 'smooth' });
    } catch (problem) {
      if (mine.signal.aborted) return;
      answerStore.set(null);
      setError(problem instanceof ApiError ? problem : new ApiError(0, String(problem)));
    }
    if (running.current === mine) setBusy(false);
  };

  const names = nodes.data?.name ?? [];
  return (
    <div class="page">
      <PageHead title="What-if" lede="Where pods would go if things were otherwise. The cluster is not touched.">
        <button
          class="btn"
          onClick={() => {
            setDraft(kEmpty);
            answerStore.set(null);
            setError(null);
          }}
        >
          Clear
        </button>
        <button class="btn primary" onClick={run} disabled={busy}>
          {busy ? 'Running…' : 'Run'}
        </button>
      </PageHead>
      <div class="columns whatif">
        <div class="stack">
          <Panel
            title={<label for="manifest">Pods and other objects</label>}
            hint={
              <span class="chips">
                {kExamples.map((example) => (
                  <button key={example.name} class="btn plain small" onClick={() => change({ manifests: example.text })}>
                    {example.name}
                  </button>
                ))}
              </span>
            }
            flush
            note={
              <label class="check">
                <input type="checkbox" checked={draft.pending} onChange={(event) => change({ pending: event.currentTarget.checked })} /> also place the pods that wait in the cluster
              </label>
            }
          >
            <textarea
              id="manifest"
              class="manifest"
              spellcheck={false}
              autocapitalize="off"
              placeholder="YAML or JSON: pods, Deployments, nodes, … Empty: only the cluster's own pods."
              value={draft.manifests}
              onInput={(event) => change({ manifests: event.currentTarget.value })}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run();
              }}
            />
          </Panel>
          <Panel title="Nodes">
            <NodeChoice label="Cordon" about="no new pods there" table={nodes.data} chosen={draft.cordon} onChange={(cordon) => change({ cordon })} />
            <NodeChoice label="Uncordon" about="pods may go there again" table={nodes.data} chosen={draft.uncordon} onChange={(uncordon) => change({ uncordon })} />
            <NodeChoice label="Remove" about="its pods are placed anew" table={nodes.data} chosen={draft.remove} onChange={(remove) => change({ remove })} />
            <AddNodes names={names} chosen={draft.add} onChange={(add) => change({ add })} />
          </Panel>
          {config.data ? (
            <Weights config={config.data} draft={draft} onChange={change} />
          ) : config.error ? (
            <Failure error={config.error} retry={config.reload} />
          ) : (
            <Loading height={200} />
          )}
        </div>
        <div class="stack answer" ref={results} aria-live="polite" aria-busy={busy}>
          {error ? (
            <Failure error={error} retry={run} />
          ) : answer ? (
            <Results result={answer.result} base={answer.base} zoneOf={zoneLookup(nodes.data)} />
          ) : busy ? (
            <Loading height={320} />
          ) : (
            <div class="panel">
              <Empty icon={<WhatIfIcon />} title="Nothing tried yet">
                <p>Paste a manifest, cordon or add nodes, move weights, then run. It works on a copy of what the scheduler knows.</p>
              </Empty>
            </div>
          )}
        </div>
      </div>
    </div>
  );
}

function zoneLookup(table: NodeTable | null): (node: string) => string {
  const zones = new Map<string, string>();
  table?.name.forEach((name, row) => zones.set(name, table.zones[table.zone[row]]));
  return (node) => zones.get(node) ?? '';
}

let lists = 0;

function NodeChoice(props: { label: string; about: string; table: NodeTable | null; chosen: string[]; onChange: (chosen: string[]) => void }) {
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState('');
  const id = useRef(`nodes-${lists++}`).current;
  const add = (name: string) => {
    if (name === '') return;
    const named = nodesNamed(name, props.table);
    setWrong(named.length === 0 ? `There is no node ${name}.` : '');
    if (named.length === 0) return;
    props.onChange([...new Set([...props.chosen, ...named])]);
    setText('');
  };
  const known = [...nodeGroups(props.table), ...(props.table?.name ?? [])];
  const near = text === '' ? known.slice(0, 30) : known.filter((name) => name.includes(text)).slice(0, 30);
  return (
    <div class="choice">
      <label for={id}>
        {props.label} <span class="dim small">{props.about}</span>
      </label>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add(text.trim());
        }}
      >
        <input id={id} class="field" list={`${id}-list`} placeholder="Node, zone=… or pool=…" value={text} autocomplete="off" onInput={(event) => setText(event.currentTarget.value)} />
        <datalist id={`${id}-list`}>
          {near.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button class="btn">{props.label}</button>
      </form>
      {wrong && (
        <p class="small is-bad" role="alert">
          {wrong}
        </p>
      )}
      <Chips items={props.chosen} onDrop={(name) => props.onChange(props.chosen.filter((each) => each !== name))} />
    </div>
  );
}

function Chips({ items, onDrop }: { items: string[]; onDrop: (item: string) => void }) {
  if (items.length === 0) return null;
  return (
    <div class="chips">
      {items.map((item) => (
        <span key={item} class="chip">
          {item}
          <button onClick={() => onDrop(item)} aria-label={`Not ${item}`}>
            ×
          </button>
        </span>
      ))}
    </div>
  );
}

function AddNodes(props: { names: string[]; chosen: Draft['add']; onChange: (add: Draft['add']) => void }) {
  const [like, setLike] = useState('');
  const [number, setNumber] = useState('3');
  const id = useRef(`nodes-${lists++}`).current;
  const near = props.names.filter((name) => name.includes(like)).slice(0, 30);
  return (
    <div class="choice">
      <label for={id}>
        Add <span class="dim small">copies of a node; empty: of the largest</span>
      </label>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const count = Math.round(Number(number));
          if (!(count >= 1 && count <= 1000)) return;
          props.onChange([...props.chosen.filter((each) => each.like !== like.trim()), { like: like.trim(), count }]);
          setLike('');
        }}
      >
        <input class="field count" type="number" min={1} max={1000} aria-label="How many" value={number} onInput={(event) => setNumber(event.currentTarget.value)} />
        <input id={id} class="field" list={`${id}-list`} placeholder="like this node" value={like} autocomplete="off" onInput={(event) => setLike(event.currentTarget.value)} />
        <datalist id={`${id}-list`}>
          {near.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button class="btn">Add</button>
      </form>
      {props.chosen.length > 0 && (
        <div class="chips">
          {props.chosen.map((each) => (
            <span key={each.like} class="chip">
              {plural(each.count, 'node')} like {each.like || 'the largest'}
              <button onClick={() => props.onChange(props.chosen.filter((other) => other !== each))} aria-label="Do not add these">
                ×
              </button>
            </span>
          ))}
        </div>
      )}
    </div>
  );
}

function Weights({ config, draft, onChange }: { config: ConfigView; draft: Draft; onChange: (part: Partial<Draft>) => void }) {
  const plugins = scorePlugins(config, draft.profile);
  const moved = Object.keys(draft.weights).length;
  return (
    <Panel
      title="Weights of the score plugins"
      hint={
        moved > 0 ? (
          <button class="btn plain small" onClick={() => onChange({ weights: {} })}>
            <CloseIcon /> As configured
          </button>
        ) : (
          'as configured'
        )
      }
    >
      {config.profiles.length > 1 && (
        <label class="profile">
          Profile{' '}
          <select class="field" value={draft.profile} onChange={(event) => onChange({ profile: event.currentTarget.value, weights: {} })}>
            <option value="">all</option>
            {config.profiles.map((each) => (
              <option key={each.schedulerName}>{each.schedulerName}</option>
            ))}
          </select>
        </label>
      )}
      {plugins.length === 0 ? (
        <p class="dim">No plugin scores nodes in this profile.</p>
      ) : (
        <ul class="weights">
          {plugins.map(({ name, weight }) => {
            const value = draft.weights[name] ?? weight;
            const set = (next: number) => {
              const { [name]: _, ...rest } = draft.weights;
              onChange({ weights: next === weight ? rest : { ...rest, [name]: next } });
            };
            return (
              <li key={name} class={value !== weight ? 'moved' : ''}>
                <label for={`weight-${name}`}>{name}</label>
                <input
                  id={`weight-${name}`}
                  type="range"
                  min={0}
                  max={Math.max(10, weight * 2)}
                  value={value}
                  aria-valuetext={value === 0 ? 'off' : String(value)}
                  onInput={(event) => set(Number(event.currentTarget.value))}
                />
                <output for={`weight-${name}`}>
                  {value === 0 ? 'off' : `×${value}`}
                  {value !== weight && <span class="dim"> was ×{weight}</span>}
                </output>
              </li>
            );
          })}
        </ul>
      )}
    </Panel>
  );
}
