import assert from "node:assert/strict";
import { test } from "node:test";
import { at, entropy, kendall, largest, matrix, merged, ranking, received, renormalised, row, strongest, together } from "../src/matrix.js";

const of = (...rows: number[][]) => received(rows);
const near = (one: number | undefined, other: number): boolean => one !== undefined && Math.abs(one - other) < 1e-6;

test("a compact matrix comes back within half a step", () => {
  const bytes = String.fromCharCode(0, 51, 102, 153, 204, 255);
  const found = received({ rows: 2, columns: 3, least: -1, scale: 2, values: btoa(bytes) });
  assert.deepEqual([found.rows, found.columns], [2, 3]);
  [-1, -0.6, -0.2, 0.2, 0.6, 1].forEach((value, place) => assert(near(found.values[place], value), `${place}`));
});

test("a compact matrix that lies about its size is refused", () => {
  assert.throws(() => received({ rows: 2, columns: 3, least: 0, scale: 1, values: btoa("abc") }), /another size/);
});

test("a plain matrix is read row after row", () => {
  const found = of([1, 2, 3], [4, 5, 6]);
  assert.equal(at(found, 1, 0), 4);
  assert.deepEqual([...row(found, 1)], [4, 5, 6]);
  assert.deepEqual(of().values.length, 0);
});

test("heads are taken together", () => {
  const heads = [of([1, 0]), of([0, 0.5])];
  assert.deepEqual([...together(heads, "mean").values], [0.5, 0.25]);
  assert.deepEqual([...together(heads, "max").values], [1, 0.5]);
  assert.equal(together([], "mean").values.length, 0);
});

test("rows sum to one again, and a row of nothing stays one", () => {
  const found = renormalised(of([0.2, 0.2], [0, 0]));
  assert.deepEqual([...found.values], [0.5, 0.5, 0, 0]);
});

test("merged pieces keep rows that sum to one", () => {
  const found = merged(of([0.5, 0.25, 0.25], [0, 0, 1]), [[0, 1]], [[0], [1, 2]], "mean");
  assert.deepEqual([...found.values], [0.25, 0.75]);
  assert.deepEqual([...merged(of([1, 2], [3, 4]), [[0, 1]], [[0, 1]], "sum").values], [10]);
});

test("Kendall's τ-b, with ties", () => {
  assert.equal(kendall([1, 2, 3], [2, 4, 9]), 1);
  assert.equal(kendall([1, 2, 3], [3, 2, 1]), -1);
  // With ties, worked out by hand: four pairs agree, four do not, one is tied in each list.
  assert(near(kendall([1, 1, 2, 3, 4], [1, 2, 3, 3, 0]), 0));
  assert(near(kendall([1, 2, 2, 3], [1, 2, 3, 3]), 4 / 5));
  assert.equal(kendall([1, 1], [1, 2]), undefined);
  assert.equal(kendall([1], [1, 2]), undefined);
});

test("the strongest, the ranking and the size", () => {
  assert.equal(strongest([]), undefined);
  assert.equal(strongest([0.1, 0.7, 0.2]), 1);
  assert.deepEqual(ranking([0.1, 0.7, 0.2], 2), [1, 2]);
  assert.equal(largest(of([-3, 2])), 3);
  assert.equal(largest(matrix(0, 0)), 0);
});

test("entropy of a coin is the logarithm of two", () => {
  assert(near(entropy([0.5, 0.5]), Math.log(2)));
  assert.equal(entropy([1, 0]), 0);
});
