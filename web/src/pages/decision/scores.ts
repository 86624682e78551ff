// Scores of the best nodes, made ready for bars.
import type { FunnelStep, NodeScore } from '../../api/types';

export interface PluginColumn {
  plugin: string;
  weight: number;
  least: number; // smallest weighted score among the nodes shown
  spread: number; // largest minus smallest: what it contributes to the order
}

// The plugins in the order they come, each once.
export function pluginColumns(nodes: NodeScore[]): PluginColumn[] {
  const columns = new Map<string, { weight: number; low: number; high: number }>();
  for (const node of nodes) {
    for (const score of node.scores) {
      const known = columns.get(score.plugin);
      if (!known) columns.set(score.plugin, { weight: score.weight, low: score.weighted, high: score.weighted });
      else {
        known.low = Math.min(known.low, score.weighted);
        known.high = Math.max(known.high, score.weighted);
      }
    }
  }
  return [...columns].map(([plugin, { weight, low, high }]) => ({ plugin, weight, least: low, spread: high - low }));
}

export interface Segment {
  plugin: string;
  color: number;
  points: number;
}

// The parts of a node's bar. With `differences` only what it has above the lowest of the nodes shown.
export function segments(node: NodeScore, columns: PluginColumn[], differences: boolean): Segment[] {
  return columns.map((column, color) => {
    const weighted = node.scores.find((score) => score.plugin === column.plugin)?.weighted ?? 0;
    return { plugin: column.plugin, color, points: Math.max(0, differences ? weighted - column.least : weighted) };
  });
}

export interface Row {
  step: FunnelStep;
  refused: number;
}

// Steps that refused nodes, and the names of those that let all pass or had nothing to check.
export function splitFunnel(steps: FunnelStep[]): { refusing: Row[]; passing: string[]; skipped: string[] } {
  const refusing: Row[] = [];
  const passing: string[] = [];
  const skipped: string[] = [];
  for (const step of steps) {
    const refused = step.before - step.after;
    if (refused > 0) refusing.push({ step, refused });
    else if (step.skipped) skipped.push(step.plugin);
    else passing.push(step.plugin);
  }
  const refusers = new Set(refusing.map((row) => row.step.plugin));
  const once = (names: string[]) => [...new Set(names)].filter((name) => !refusers.has(name));
  const passed = once(passing);
  return { refusing, passing: passed, skipped: once(skipped).filter((name) => !passed.includes(name)) };
}
