import assert from "node:assert/strict";
import { test } from "node:test";
import { received } from "../src/matrix.js";
import { litRibbons, ribbonsOf } from "../src/views/stage.js";
import type { Scene } from "../src/views/scene.js";

const place = (text: string) => ({ text, tokens: [0] });
const scene: Scene = {
  sides: { rows: "", columns: "" }, rows: [place("a"), place("b")], columns: [place("x"), place("y")],
  matrix: received([[0.5, 0.25], [0, -2]]), scale: "signed", limit: 1, logProbabilities: null, agreement: null,
};

test("ribbons from a threshold on, the strongest on top, none stronger than all", () => {
  assert.deepEqual(ribbonsOf(scene, 0, 9), [
    { row: 0, column: 1, part: 0.25 }, { row: 0, column: 0, part: 0.5 }, { row: 1, column: 1, part: -1 },
  ]);
  assert.equal(ribbonsOf(scene, 0.3, 9).length, 2);
  assert.deepEqual(ribbonsOf(scene, 0, 1).map(({ part }) => part), [-1], "of many the strongest");
});

test("what is lit has all its ribbons", () => {
  assert.deepEqual(litRibbons(scene, { side: "row", index: 0 }, 0).map(({ part }) => part), [0.5, 0.25]);
  assert.deepEqual(litRibbons(scene, { side: "column", index: 1 }, 0.3).map(({ part }) => part), [-1]);
});
