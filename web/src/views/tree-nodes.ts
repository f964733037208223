// A search as a tree: which hypotheses were followed, and what was let go of at which step and why. What greedy search
// would have written is there too, to its end, even where the beam did not follow.

import type { Beams, Candidate, Fate, Output } from "../api.js";

/** What became of a candidate: what search says, or that it was kept and then went nowhere, or that greedy search alone goes there. */
export type Became = Fate | "overtaken" | "greedy-only";

/** A token behind a hypothesis. */
export interface Node {
  /** The step that wrote it, from 0, and its place in the list of that step; none where greedy search alone goes. */
  readonly step: number;
  readonly place: number | null;
  readonly parent: number | null;
  readonly token: string;
  readonly id: number | undefined;
  readonly logProbability: number;
  /** log p of the hypothesis that ends here. */
  readonly sum: number;
  /** What that hypothesis is ranked by, where that is known. */
  readonly score: number | null;
  readonly entropy: number | undefined;
  readonly group: number;
  readonly by: number | undefined;
  became: Became;
  /** The place among the outputs that it ends at, from 0. */
  readonly ends: number | null;
  /** The best of the outputs that go through it, from 0. */
  rank: number | null;
  /** Whether greedy search goes through it. */
  greedy: boolean;
  /** In the order in which they are drawn: what belongs to the best output first. */
  children: number[];
}

export interface Tree {
  readonly nodes: readonly Node[];
  /** The nodes of the first step, in the order in which they are drawn. */
  readonly first: readonly number[];
  /** How many steps there are, those that greedy search makes by itself among them. */
  readonly steps: number;
  /** How many groups share the beam. */
  readonly groups: number;
  /** Whether greedy search ends anywhere but at the best output. */
  readonly greedyDiffers: boolean;
}

const PRUNED: ReadonlySet<Became> = new Set<Became>(["beaten", "forbidden", "repeated", "too-short", "again", "phrases"]);

export function isPruned(node: Pick<Node, "became">): boolean {
  return PRUNED.has(node.became);
}

/** Puts what search tells in order; a candidate behind one that is not there is left out. */
export function grown(beams: Pick<Beams, "steps" | "greedy">, end: { readonly text: string; readonly id?: number | undefined } | null): Tree {
  const nodes: Node[] = [];
  const first: number[] = [];
  const push = (node: Node): number => {
    const number = nodes.push(node) - 1;
    (node.parent === null ? first : (nodes[node.parent] as Node).children).push(number);
    return number;
  };
  const sum = (parent: number | null): number => (parent === null ? 0 : (nodes[parent] as Node).sum);

  let before = new Map<number, number>();
  beams.steps.forEach((candidates, step) => {
    const here = new Map<number, number>();
    candidates.forEach((candidate, place) => {
      const parent = candidate.parent === null ? null : before.get(candidate.parent);
      if (parent === undefined || (step === 0) !== (parent === null)) return;
      here.set(place, push(asNode(candidate, step, place, parent, sum(parent))));
    });
    before = here;
  });

  markOutputs(nodes);
  for (const node of nodes) {
    const followed = node.children.some((child) => !isPruned(nodes[child] as Node));
    if (node.became === "kept" && !followed) node.became = "overtaken";
  }
  if (beams.greedy) follow(beams.greedy, end, nodes, first, push, sum);
  sort(nodes, first);
  const groups = nodes.reduce((most, { group }) => Math.max(most, group + 1), 1);
  const steps = nodes.reduce((most, { step }) => Math.max(most, step + 1), 0);
  return { nodes, first, steps, groups, greedyDiffers: nodes.some((node) => node.greedy && node.rank !== 0) };
}

function asNode(candidate: Candidate, step: number, place: number, parent: number | null, sum: number): Node {
  const { token, id, log_probability: logProbability, score, entropy, group, by, fate, rank } = candidate;
  return {
    step, place, parent, token, id, logProbability, score, entropy, group, by,
    sum: sum + logProbability,
    became: fate,
    ends: (fate === "finished" || fate === "unfinished") && rank !== undefined ? rank : null,
    rank: null,
    greedy: false,
    children: [],
  };
}

/** The nodes from the first token to this one. */
export function pathTo(nodes: readonly Node[], node: number): number[] {
  const path: number[] = [];
  for (let at: number | null = node; at !== null; at = (nodes[at] as Node).parent) path.unshift(at);
  return path;
}

function markOutputs(nodes: readonly Node[]): void {
  nodes.forEach(({ ends }, number) => {
    if (ends === null) return;
    for (const at of pathTo(nodes, number)) {
      const node = nodes[at] as Node;
      node.rank = node.rank === null ? ends : Math.min(node.rank, ends);
    }
  });
}

/** Marks where greedy search goes, and adds what the beam did not follow. */
function follow(
  greedy: Output,
  end: { readonly text: string; readonly id?: number | undefined } | null,
  nodes: readonly Node[],
  first: readonly number[],
  push: (node: Node) => number,
  sum: (parent: number | null) => number,
): void {
  let at: number | null = null;
  greedy.log_probabilities.forEach((logProbability, step) => {
    const token = greedy.tokens[step] ?? end?.text ?? "⟨/s⟩";
    const id = greedy.ids?.[step] ?? (greedy.tokens[step] === undefined ? end?.id : undefined);
    const same = (child: number): boolean => {
      const node = nodes[child] as Node;
      return id !== undefined && node.id !== undefined ? node.id === id : node.token === token;
    };
    const behind: readonly number[] = at === null ? first : (nodes[at] as Node).children;
    const found = behind.filter(same);
    const known: number | undefined = found.find((child) => !isPruned(nodes[child] as Node)) ?? found[0];
    const next: number = known ?? push({
      step,
      place: null,
      parent: at,
      token,
      id,
      logProbability,
      sum: sum(at) + logProbability,
      score: step + 1 === greedy.log_probabilities.length ? greedy.normalised_score : null,
      entropy: undefined,
      group: 0,
      by: undefined,
      became: "greedy-only",
      ends: null,
      rank: null,
      greedy: true,
      children: [],
    });
    (nodes[next] as Node).greedy = true;
    at = next;
  });
}

/** What belongs to the best output first, then greedy search, then what was kept. */
function sort(nodes: readonly Node[], first: number[]): void {
  const key = (number: number): readonly number[] => {
    const node = nodes[number] as Node;
    return [Number(node.rank !== 0), Number(!node.greedy), node.rank ?? Infinity, Number(isPruned(node)), number];
  };
  const order = (one: number, other: number): number => {
    const [left, right] = [key(one), key(other)];
    const place = left.findIndex((value, index) => value !== right[index]);
    return place < 0 ? 0 : (left[place] as number) < (right[place] as number) ? -1 : 1;
  };
  first.sort(order);
  for (const node of nodes) node.children.sort(order);
}
