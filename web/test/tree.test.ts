import assert from "node:assert/strict";
import { test } from "node:test";
import type { Candidate, Fate, Output } from "../src/api.js";
import { joined, short, story } from "../src/views/steps-words.js";
import { layOut } from "../src/views/tree-layout.js";
import { grown, isPruned, pathTo, type Tree } from "../src/views/tree-nodes.js";

function candidate(parent: number | null, token: string, log: number, fate: Fate, more: Partial<Candidate> = {}): Candidate {
  return { parent, group: 0, token, log_probability: log, score: log, fate, ...more };
}

function output(tokens: readonly string[], logs: readonly number[]): Output {
  const score = logs.reduce((sum, log) => sum + log, 0);
  return { text: tokens.join(" "), tokens, log_probabilities: logs, score, normalised_score: score, finished: true };
}

/** Two hypotheses; the second wins in the end, and greedy search goes another way. */
const steps = [
  [candidate(null, "a", -0.4, "kept"), candidate(null, "b", -0.5, "kept"), candidate(null, "c", -3, "beaten", { by: 2.5 })],
  [candidate(1, "d", -0.1, "kept"), candidate(0, "e", -1.5, "kept"), candidate(0, "f", -1.4, "beaten", { by: 0.001 })],
  [candidate(0, "⟨/s⟩", -0.1, "finished", { rank: 0 }), candidate(0, "g", -4, "kept")],
  [candidate(1, "⟨/s⟩", -0.1, "finished")],
];
const tree = grown({ steps, greedy: output(["a", "f", "h"], [-0.4, -1.4, -1, -0.2]) }, { text: "⟨/s⟩" });

const named = (of: Tree, number: number): string => pathTo(of.nodes, number).map((at) => of.nodes[at]?.token).join("");
const find = (path: string): number => tree.nodes.findIndex((_, number) => named(tree, number) === path);

test("what search tells becomes a tree, with the way of greedy search to its end", () => {
  assert.equal(tree.nodes.length, 9 + 2, "two that greedy search alone writes");
  assert.equal(tree.steps, 4);
  assert.equal(tree.greedyDiffers, true);
  assert.deepEqual(tree.first.map((number) => tree.nodes[number]?.token), ["b", "a", "c"], "the best, greedy search, the rest");
  assert.equal(tree.nodes[find("bd⟨/s⟩")]?.rank, 0);
  assert.equal(tree.nodes[find("b")]?.rank, 0);
  assert.equal(tree.nodes[find("a")]?.rank, null);
  assert.deepEqual(["a", "af", "afh", "afh⟨/s⟩"].map((path) => tree.nodes[find(path)]?.greedy), [true, true, true, true]);
  assert.equal(tree.nodes[find("afh")]?.became, "greedy-only");
  assert.equal(tree.nodes[find("ae")]?.became, "overtaken");
  assert(Math.abs((tree.nodes[find("bd⟨/s⟩")]?.sum ?? 0) + 0.7) < 1e-9);
  const best = tree.nodes[find("af")];
  assert(best && isPruned(best));
});

test("candidates without their parent are left out, and greedy search may be unknown", () => {
  const broken = grown({ steps: [[candidate(null, "a", 0, "kept")], [candidate(7, "b", 0, "kept"), candidate(null, "c", 0, "kept")]], greedy: null }, null);
  assert.equal(broken.nodes.length, 1);
  assert.equal(broken.greedyDiffers, false);
  assert.equal(layOut(grown({ steps: [], greedy: null }, null), true).height, 0);
});

test("the best output is a straight line, and no two nodes share a place", () => {
  for (const pruned of [true, false]) {
    const layout = layOut(tree, pruned);
    const line = pathTo(tree.nodes, find("bd⟨/s⟩"));
    assert.deepEqual(line.map((number) => layout.rows[number]), [0, 0, 0]);
    const places = tree.nodes.flatMap(({ step }, number) => (layout.rows[number] === null ? [] : [`${step} ${layout.rows[number]}`]));
    assert.equal(new Set(places).size, places.length);
    assert.equal(Math.max(...layout.rows.map((row) => row ?? 0)) + 1, layout.height);
    assert.equal(layout.columns.flat().length, places.length);
  }
  assert.equal(layOut(tree, false).rows[find("c")], null, "what was pruned is hidden");
  assert(layOut(tree, false).rows[find("af")] !== null, "but for where greedy search goes");
  assert.equal(layOut(tree, true).columns[0]?.length, 3);
});

test("lines between nodes do not cross, in large trees too", () => {
  let seed = 3;
  const draw = (most: number): number => {
    seed = (seed * 48271) % 2147483647;
    return seed % most;
  };
  const many = Array.from({ length: 60 }, (_, step) => Array.from({ length: 8 }, (_unused, place) =>
    candidate(step === 0 ? null : draw(5), `t${place}`, -draw(100) / 20, place < 5 ? "kept" : "beaten", place < 5 ? {} : { by: 1 })));
  const large = grown({ steps: many, greedy: null }, null);
  const layout = layOut(large, true);
  // From a parent the line leaves straight down, then to the right: no node may stand between it and its child.
  for (const [number, node] of large.nodes.entries()) {
    if (node.parent === null) continue;
    const [from, to] = [layout.rows[node.parent] as number, layout.rows[number] as number];
    assert(to >= from, "children stand beside or below");
    const between = layout.columns[node.step - 1]?.filter((other) => {
      const row = layout.rows[other] as number;
      return row > from && row < to && (large.nodes[other]?.children.some((child) => (layout.rows[child] as number) > to) ?? false);
    });
    assert.deepEqual(between, []);
  }
});

test("what became of a candidate, in words", () => {
  const told = (path: string): string => short(tree.nodes[find(path)] as never);
  assert.deepEqual(["b", "c", "af", "bd⟨/s⟩", "bdg⟨/s⟩", "ae", "afh"].map(told),
    ["kept", "beaten by 2.50", "beaten by less than 0.01", "ended, number 1", "ended, outscored", "overtaken", "greedy alone"]);
  const whole = story(tree.nodes[find("af")] as never, tree);
  assert.equal(whole, "It was pruned, as the beam was full: its log p was less than 0.01 short of the last candidate that got a place. Greedy search goes this way.");
  assert.match(story(tree.nodes[find("bd⟨/s⟩")] as never, tree), /number 1 with the score −0\.10\.$/);
});

test("tokens are put together by their marks", () => {
  assert.equal(joined(["▁il", "▁gat", "to"]), "il gatto");
  assert.equal(joined(["il", "gat", "##to"]), "il gatto");
  assert.equal(joined(["il</w>", "gat", "to</w>"]), "il gatto");
  assert.equal(joined(["gat@@", "to", "è"]), "gatto è");
  assert.equal(joined([]), "");
});
