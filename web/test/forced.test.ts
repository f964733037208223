import assert from "node:assert/strict";
import { test } from "node:test";
import { chosenSteps, force, formatForced, parseForced, prefixOf, release } from "../src/views/steps-forced.js";

test("choices go through the address", () => {
  const forced = [[12, 51, 7], [8, 9]];
  assert.equal(formatForced(forced), "12.51.7-8.9");
  assert.deepEqual(parseForced("12.51.7-8.9"), forced);
  assert.deepEqual(prefixOf(forced), [12, 51, 7, 8, 9]);
  assert.deepEqual(chosenSteps(forced), [2, 4]);
  for (const bad of ["", "-", "1.", "a", "1..2", "1--2", "-1", "99999999999", Array.from({ length: 1025 }, () => 1).join(".")]) {
    assert.deepEqual(parseForced(bad), [], bad.slice(0, 20));
  }
});

test("a choice keeps those before it that lie on its path", () => {
  const forced = [[1, 2], [3]];
  assert.deepEqual(force([], [1, 2]), [[1, 2]]);
  assert.deepEqual(force(forced, [1, 2, 3, 4]), [[1, 2], [3], [4]]);
  assert.deepEqual(force(forced, [1, 2, 5]), [[1, 2], [5]], "another token at the same step");
  assert.deepEqual(force(forced, [1, 6]), [[1, 6]]);
  assert.deepEqual(force(forced, [7, 2, 3, 4]), [[7, 2, 3, 4]]);
  assert.deepEqual(release([[1], [2], [3]], 1), [[1]]);
});
