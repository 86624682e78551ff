// Kubernetes quantities: "1500m", "2Gi", "1e3". Null: it is none.
const kScale: Record<string, number> = {
  n: 1e-9, u: 1e-6, m: 1e-3, '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
  Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60,
};

export function parseQuantity(text: string): number | null {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(text.trim());
  if (!match) return null;
  const number = Number(match[1] + (match[2] ?? ''));
  return number * kScale[match[3] ?? ''];
}
