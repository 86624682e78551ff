// A what-if as the page keeps it, and what is sent for it.
import type { ConfigView, WhatIfPlacement, WhatIfRequest, WhatIfResult } from '../../api/types';

export interface Draft {
  manifests: string;
  cordon: string[];
  remove: string[];
  add: { like: string; count: number }[];
  weights: Record<string, number>; // only those moved
  profile: string; // "": all
  pending: boolean; // place the cluster's pending pods too
}

export const kEmpty: Draft = { manifests: '', cordon: [], remove: [], add: [], weights: {}, profile: '', pending: true };

export function toRequest(draft: Draft): WhatIfRequest {
  const request: WhatIfRequest = { reschedulePending: draft.pending };
  if (draft.manifests.trim() !== '') request.manifests = draft.manifests;
  if (draft.cordon.length > 0) request.cordon = draft.cordon;
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
  return draft.cordon.length + draft.remove.length + draft.add.length + Object.keys(draft.weights).length > 0;
}

// The same question to the cluster as it is, to compare with.
export function unchanged(draft: Draft): WhatIfRequest {
  return toRequest({ ...kEmpty, manifests: draft.manifests, pending: draft.pending });
}

export function fromQuery(query: Record<string, string>): Partial<Draft> {
  const list = (text: string | undefined) => (text ? text.split(',').filter((each) => each !== '') : []);
  const draft: Partial<Draft> = {};
  if (query.cordon) draft.cordon = list(query.cordon);
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
