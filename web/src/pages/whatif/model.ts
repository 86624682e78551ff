// A what-if as the page keeps it, and what is sent for it.
import type { ConfigView, NodeTable, WhatIfPlacement, WhatIfRequest, WhatIfResult } from '../../api/types';

export interface Draft {
  manifests: string;
  cordon: string[];
  uncordon: string[];
  remove: string[];
  add: { like: string; count: number }[];
  weights: Record<string, number>; // only those moved
  profile: string; // "": all
  pending: boolean; // place the cluster's pending pods too
}

export const kEmpty: Draft = { manifests: '', cordon: [], uncordon: [], remove: [], add: [], weights: {}, profile: '', pending: true };

export function toRequest(draft: Draft): WhatIfRequest {
  const request: WhatIfRequest = { reschedulePending: draft.pending };
  if (draft.manifests.trim() !== '') request.manifests = draft.manifests;
  if (draft.cordon.length > 0) request.cordon = draft.cordon;
  if (draft.uncordon.length > 0) request.uncordon = draft.uncordon;
  if (draft.remove.length > 0) request.removeNodes = draft.remove;
  if (draft.add.length > 0) request.addNodes = draft.add;
  if (Object.keys(draft.weights).length > 0) {
    request.weights = draft.weights;
    if (draft.profile !== '') request.profile = draft.profile;
  }
  return request;
}

// Does it change anything but the pods that are asked for?
export function changesCluster(draft: Draft): boolean {
  return draft.cordon.length + draft.uncordon.length + draft.remove.length + draft.add.length + Object.keys(draft.weights).length > 0;
}

// The same question to the cluster as it is, to compare with.
export function unchanged(draft: Draft): WhatIfRequest {
  return toRequest({ ...kEmpty, manifests: draft.manifests, pending: draft.pending });
}

// What the API is asked, as the page keeps it.
export function fromRequest(request: WhatIfRequest): Draft {
  return {
    manifests: request.manifests ?? '',
    cordon: request.cordon ?? [],
    uncordon: request.uncordon ?? [],
    remove: request.removeNodes ?? [],
    add: request.addNodes ?? [],
    weights: request.weights ?? {},
    profile: request.profile ?? '',
    pending: request.reschedulePending ?? true,
  };
}

const kMaxAddress = 24000; // letters of a draft; servers and chats cut longer links

// A draft as part of an address: what differs from an empty one, as base64url of JSON. "" when it is empty or too long.
export function encodeDraft(draft: Draft): string {
  const parts = Object.fromEntries(Object.entries(draft).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(kEmpty[key as keyof Draft])));
  if (Object.keys(parts).length === 0) return '';
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return text.length > kMaxAddress ? '' : text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

// null: it is none.
export function decodeDraft(text: string): Draft | null {
  try {
    const raw = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    const parts: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.from(raw, (letter) => letter.charCodeAt(0))));
    if (typeof parts !== 'object' || parts === null || Array.isArray(parts)) return null;
    const draft: Record<string, unknown> = { ...kEmpty };
    for (const [key, value] of Object.entries(parts)) {
      const known = kEmpty[key as keyof Draft];
      if (known === undefined || typeof value !== typeof known || Array.isArray(value) !== Array.isArray(known) || value === null) return null;
      draft[key] = value;
    }
    const lists = [draft.cordon, draft.uncordon, draft.remove] as unknown[][];
    if (lists.some((list) => list.some((name) => typeof name !== 'string'))) return null;
    const adds = draft.add as { like?: unknown; count?: unknown }[];
    if (adds.some((each) => typeof each?.like !== 'string' || typeof each?.count !== 'number')) return null;
    return draft as unknown as Draft;
  } catch {
    return null; // somebody typed it
  }
}

// Names of nodes that `text` stands for: a node, or zone=…, pool=… or taint=… with all nodes of that kind. Empty: none.
export function nodesNamed(text: string, table: NodeTable | null): string[] {
  if (!table) return [];
  const [key, value] = text.split('=', 2);
  const groups: Record<string, [string[] | undefined, number[] | undefined]> = {
    zone: [table.zones, table.zone],
    pool: [table.pools, table.pool],
  };
  if (value === undefined || !(key in groups)) return table.name.filter((name) => name === text);
  const [names, column] = groups[key];
  return table.name.filter((_, row) => names?.[column?.[row] ?? -1] === value);
}

// zone=… and pool=… of the cluster, for a list of suggestions.
export function nodeGroups(table: NodeTable | null): string[] {
  const named = (key: string, names: string[] | undefined) => (names ?? []).filter((name) => name !== '').map((name) => `${key}=${name}`);
  return table ? [...named('pool', table.pools), ...named('zone', table.zones)] : [];
}

export function fromQuery(query: Record<string, string>): Partial<Draft> {
  const list = (text: string | undefined) => (text ? text.split(',').filter((each) => each !== '') : []);
  const draft: Partial<Draft> = {};
  if (query.cordon) draft.cordon = list(query.cordon);
  if (query.uncordon) draft.uncordon = list(query.uncordon);
  if (query.remove) draft.remove = list(query.remove);
  if (query.like) draft.add = [{ like: query.like, count: Math.max(1, Math.min(1000, Number(query.count) || 1)) }];
  return draft;
}

export function scorePlugins(config: ConfigView, profile: string): { name: string; weight: number }[] {
  const chosen = config.profiles.find((each) => each.schedulerName === profile) ?? config.profiles[0];
  const point = chosen?.points.find((each) => each.point === 'Score');
  return (point?.plugins ?? []).map(({ name, weight }) => ({ name, weight: weight ?? 1 }));
}

export interface Row {
  placement: WhatIfPlacement;
  otherwise?: WhatIfPlacement; // in the cluster as it is
  moved: boolean;
}

const keyOf = (each: WhatIfPlacement) => `${each.namespace}/${each.name}`;

export function compare(result: WhatIfResult, base: WhatIfResult | null): Row[] {
  const known = new Map((base?.placements ?? []).map((each) => [keyOf(each), each]));
  return result.placements.map((placement) => {
    const otherwise = known.get(keyOf(placement));
    const moved = otherwise !== undefined && (otherwise.node ?? '') !== (placement.node ?? '');
    return { placement, otherwise, moved };
  });
}

// Where a pod is, or would be, without the change: on its node in the cluster, else where it would go in the cluster as it is.
export function before({ placement, otherwise }: Row): { node: string; text: string } {
  if (placement.before) return { node: placement.before, text: '' };
  if (otherwise?.node) return { node: otherwise.node, text: 'would be' };
  if (otherwise) return { node: '', text: otherwise.outcome.toLowerCase() };
  return { node: '', text: placement.source === 'manifest' ? 'new' : 'pending' };
}

// How many pods each node would get, most first.
export function perNode(placements: WhatIfPlacement[]): { node: string; pods: number }[] {
  const counts = new Map<string, number>();
  for (const each of placements) if (each.outcome === 'Placed' && each.node) counts.set(each.node, (counts.get(each.node) ?? 0) + 1);
  return [...counts].map(([node, pods]) => ({ node, pods })).sort((a, b) => b.pods - a.pods || a.node.localeCompare(b.node, 'en', { numeric: true }));
}

export const kExamples: { name: string; text: string }[] = [
  {
    name: 'Deployment',
    text: `apiVersion: apps/v1
kind: Deployment
metadata:
  name: try
  namespace: default
spec:
  replicas: 6
  selector:
    matchLabels: {app: try}
  template:
    metadata:
      labels: {app: try}
    spec:
      containers:
      - name: main
        image: nginx
        resources:
          requests: {cpu: "1", memory: 1Gi}
`,
  },
  {
    name: 'Spread over zones',
    text: `apiVersion: apps/v1
kind: Deployment
metadata:
  name: spread
  namespace: default
spec:
  replicas: 9
  selector:
    matchLabels: {app: spread}
  template:
    metadata:
      labels: {app: spread}
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: DoNotSchedule
        labelSelector:
          matchLabels: {app: spread}
      containers:
      - name: main
        image: nginx
        resources:
          requests: {cpu: 500m, memory: 512Mi}
`,
  },
  {
    name: 'One large pod',
    text: `apiVersion: v1
kind: Pod
metadata:
  name: large
  namespace: default
spec:
  containers:
  - name: main
    image: nginx
    resources:
      requests: {cpu: "12", memory: 48Gi}
`,
  },
];
