import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelInfo, Trace } from "../src/api.js";
import { receivedGrid } from "../src/grid.js";
import { received } from "../src/matrix.js";
import { kinds, needsHeads, picked, scene, type Wanted } from "../src/views/scene.js";

const model: ModelInfo = {
  name: "m", task: "translate", reads: "texts", parameters: 1, vocabularies: { source: 1, target: 1 },
  attentions: ["decoder", "encoder", "cross"], beam: 1, max_length: 9, load: 1,
};
const trace: Trace = {
  model: "m", task: "translate", text: "il gatto",
  source: [{ text: "the", word: 0 }, { text: "cat", word: 1 }, { text: "⟨/s⟩", word: null }],
  target: [{ text: "il", word: 0 }, { text: "gatto", word: 1 }, { text: "⟨/s⟩", word: null }],
  logProbabilities: [Math.log(0.5), Math.log(0.8), 0],
  weights: received([[0.75, 0.25, 0], [0.25, 0.25, 0.5], [0, 0, 1]]),
  attentions: [{
    kind: "encoder", firstLayer: 1, classToken: false,
    queries: [{ text: "the", word: 0 }, { text: "cat", word: 1 }], keys: [{ text: "the", word: 0 }, { text: "cat", word: 1 }],
    layers: [[received([[1, 0], [0, 1]]), received([[0, 1], [0, 1]])]],
  }],
  attributions: {
    gradient: received([[0.5, -0.1, 0], [-0.1, 0.9, 0], [0, 0, 0]]),
    erasure: received([[Math.log(5), 0, 0], [0, Math.log(8), 0], [0, 0, 0]]),
  },
};
const wanted: Wanted = { kind: "cross", measure: "attention", pick: "mean", hideEnd: false, words: false };

test("attention to the source comes first, and heads are asked for only where they are shown", () => {
  assert.deepEqual(kinds(model), ["cross", "encoder", "decoder"]);
  assert.deepEqual(kinds({ ...model, reads: "images" }), ["cross"]);
  assert(!needsHeads(model, wanted));
  assert(needsHeads(model, { ...wanted, pick: "max" }) && needsHeads(model, { ...wanted, kind: "encoder" }));
  assert(!needsHeads({ ...model, reads: "sounds" }, { ...wanted, pick: "max" }));
});

test("the end is hidden on both sides, and rows sum to one again", () => {
  const found = scene(trace, model, { ...wanted, hideEnd: true });
  assert.deepEqual(found?.rows.map(({ text }) => text), ["il", "gatto"]);
  assert.deepEqual([...(found?.matrix.values ?? [])], [0.75, 0.25, 0.5, 0.5]);
});

test("one head, the mean and the maximum", () => {
  const heads = trace.attentions[0];
  assert(heads);
  assert.deepEqual([...picked(heads, "1.2").values], [0, 1, 0, 1]);
  assert.deepEqual([...picked(heads, "mean").values], [0.5, 0.5, 0, 1]);
  assert.deepEqual([...picked(heads, "max").values], [1, 1, 0, 1]);
  assert.deepEqual([...picked(heads, "9.9").values], [0.5, 0.5, 0, 1]);
  const found = scene(trace, model, { ...wanted, kind: "encoder", pick: "1.1" });
  assert.deepEqual(found?.rows.map(({ text }) => text), ["the", "cat"]);
});

test("attributions are signed, and tell how far attention explains a step", () => {
  const found = scene(trace, model, { ...wanted, measure: "erasure" });
  assert.equal(found?.scale, "signed");
  assert(Math.abs((found?.limit ?? 0) - Math.log(8)) < 1e-6);
  const [first, second] = found?.agreement ?? [];
  assert(first && second);
  assert.deepEqual([first.gradient, first.erasure, first.attended], [1, 1, 0]);
  assert(Math.abs(first.probability - 0.5) < 1e-6 && Math.abs(first.without - 0.1) < 1e-6);
  assert(Math.abs((first.otherwise ?? 0) - 0.5) < 1e-6);
  // Both tokens are looked at alike: no order to compare.
  assert.equal(second.gradient, undefined);
});

test("a model that has not looked has no scene", () => {
  assert.equal(scene({ ...trace, weights: null }, model, wanted), null);
  assert.equal(scene({ ...trace, attentions: [] }, model, { ...wanted, kind: "decoder" }), null);
});

test("what is told of an image without words has its label as its row", () => {
  const seen: Trace = { ...trace, source: [], target: [], text: "seven", weights: received([[0.25, 0.75]]), grid: receivedGrid([1, 2]), attributions: undefined };
  const found = scene(seen, { ...model, reads: "images", task: "classify", attentions: ["pooling"] }, { ...wanted, kind: "pooling" });
  assert.deepEqual([found?.rows[0]?.text, found?.columns[1]?.text], ["seven", "row 1, column 2"]);
});
