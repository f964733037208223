import assert from "node:assert/strict";
import { test } from "node:test";
import { receivedGrid, regionAt, regionBeside, regionBox, regionCount, regionName } from "../src/grid.js";

/** The middle of an image that is twice as wide as high. */
const cropped = receivedGrid([2, 4], [0.25, 0, 0.5, 1]);
const whole = receivedGrid([2, 4]);
const REGIONS = [0, 1, 2, 3, 4, 5, 6, 7];

test("a grid covers all of an image unless it is said what", () => {
  assert.deepEqual(whole, { rows: 2, columns: 4, covered: [0, 0, 1, 1] });
  assert.deepEqual(cropped.covered, [0.25, 0, 0.5, 1]);
  assert.equal(regionCount(whole), 8);
});

test("regions stand in the part of the image that is seen, row after row", () => {
  assert.deepEqual(regionBox(cropped, 0, 160, 80), [40, 0, 20, 40]);
  assert.deepEqual(regionBox(cropped, 3, 160, 80), [100, 0, 20, 40]);
  assert.deepEqual(regionBox(cropped, 4, 160, 80), [40, 40, 20, 40]);
  const high = receivedGrid([2, 4], [0, 0.25, 1, 0.5]);
  assert.deepEqual(regionBox(high, 7, 80, 160), [60, 80, 20, 40]);
});

test("regions of a stretched image reach from side to side, whatever its proportions", () => {
  assert.deepEqual(regionBox(whole, 0, 160, 80), [0, 0, 40, 40]);
  assert.deepEqual(regionBox(whole, 7, 160, 80), [120, 40, 40, 40]);
  assert.deepEqual(regionBox(whole, 7, 80, 160), [60, 80, 20, 80]);
});

test("a part that could not be in the very middle is where it was taken", () => {
  // Of 80 columns 41 were taken: 19 are left over on the left, 20 on the right.
  const odd = receivedGrid([1, 1], [19 / 80, 0, 41 / 80, 1]);
  const [left, , width] = regionBox(odd, 0, 80, 41);
  assert.deepEqual([Math.round(left), Math.round(left + width)], [19, 60]);
});

test("the middle of each region is under its own point", () => {
  for (const grid of [cropped, whole]) {
    const found = REGIONS.map((region) => {
      const [left, top, width, height] = regionBox(grid, region, 1, 1);
      return regionAt(grid, left + width / 2, top + height / 2);
    });
    assert.deepEqual(found, REGIONS);
  }
});

test("a point that the model does not see is in no region", () => {
  assert.deepEqual([0.24, 0.25, 0.74, 0.75].map((x) => regionAt(cropped, x, 0.1)), [-1, 0, 3, -1]);
  assert.deepEqual([-0.01, 0, 0.99, 1].map((y) => regionAt(cropped, 0.3, y)), [-1, 0, 4, -1]);
  assert.equal(regionAt(whole, 0.24, 0.1), 0);
  assert.equal(regionAt(whole, NaN, 0.1), -1);
});

test("arrow keys lead to the region beside, and not over the border", () => {
  const KEYS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
  const around = (region: number): (number | null)[] => KEYS.map((key) => regionBeside(cropped, region, key));
  assert.deepEqual(around(0), [0, 4, 0, 1]);
  assert.deepEqual(around(3), [3, 7, 2, 3]);
  assert.deepEqual(around(5), [1, 5, 4, 6]);
  assert.deepEqual(around(7), [3, 7, 6, 7]);
});

test("other keys lead nowhere", () => {
  assert.deepEqual(["Enter", " ", "a", "constructor"].map((key) => regionBeside(whole, 0, key)), [null, null, null, null]);
});

test("a region is called by its row and column", () => {
  assert.deepEqual([0, 3, 4].map((region) => regionName(whole, region)), ["row 1, column 1", "row 1, column 4", "row 2, column 1"]);
});
