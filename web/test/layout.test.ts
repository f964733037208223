import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAt, layout } from "../src/views/heatmap.js";
import { laidOut } from "../src/views/ribbons-picture.js";
import { ticks } from "../src/views/band.js";
import { colour, contrast, luminance, step } from "../src/scale.js";
import { fromShared, kindOf, shared, toBase64, toWav } from "../src/source.js";
import { percent, weight } from "../src/numbers.js";

test("cells fit a width, and never vanish", () => {
  const few = layout(6, 8, 40, 40, 600);
  assert.equal(few.cell, 48);
  const many = layout(300, 300, 100, 100, 600);
  assert.deepEqual([many.cell, many.every, many.width], [3, 5, 110 + 900 + 1]);
  const some = layout(20, 20, 50, 50, 460);
  assert(some.width <= 460 + 1);
});

test("the cell under a point", () => {
  const of = layout(2, 3, 40, 40, 600);
  assert.deepEqual(cellAt(of, 2, 3, of.left + 1, of.top + of.cell + 1), { row: 1, column: 0 });
  assert.equal(cellAt(of, 2, 3, of.left - 1, of.top + 1), null);
  assert.equal(cellAt(of, 2, 3, of.left + 3 * of.cell + 1, of.top + 1), null);
});

test("tokens of a row lie beside each other", () => {
  assert.deepEqual(laidOut(["a", "b"], [10, 20], 5), { left: [0, 15], width: 35 });
  assert.deepEqual(laidOut([], [], 5), { left: [], width: 0 });
});

test("ticks stand at round times", () => {
  assert.deepEqual(ticks(2.2, 5), [0, 0.5, 1, 1.5, 2]);
  assert.deepEqual(ticks(0.31, 9), [0, 0.1, 0.2, 0.3]);
});

test("a stronger value is always further from the ground", () => {
  for (const ground of ["light", "dark"] as const) {
    for (const [scale, sign] of [["share", 1], ["signed", 1], ["signed", -1]] as const) {
      const lightness = Array.from({ length: 33 }, (_, place) => luminance(colour(scale, (sign * place) / 32, ground)));
      const ordered = lightness.every((value, place) =>
        place === 0 || (ground === "light" ? value < (lightness[place - 1] ?? 0) : value > (lightness[place - 1] ?? 0)));
      assert(ordered, `${scale} ${sign} ${ground}`);
    }
  }
  assert(contrast([0, 0, 0], [255, 255, 255]) > 20.9);
});

test("steps of the palette end where the scale ends", () => {
  assert.deepEqual([0, 0.5, 1, 7, -1, NaN].map((value) => step("share", value, 1)), [0, 128, 255, 255, 0, 0]);
  assert.deepEqual([-9, 0, 9].map((value) => step("signed", value, 1)), [1, 128, 255]);
  assert.equal(step("share", 1, 0), 0);
});

test("a small file goes into an address and comes back", () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, place) => (place * 7) % 256);
  bytes.set([0x89, 0x50, 0x4e, 0x47]);
  const text = shared({ name: "a", kind: "image/png", bytes, base64: toBase64(bytes) });
  assert(text !== null);
  assert.match(text, /^[A-Za-z0-9_-]+$/);
  const back = fromShared(text, "b");
  assert.deepEqual([back?.kind, [...(back?.bytes ?? [])]], ["image/png", [...bytes]]);
  assert.equal(fromShared("*", "b"), null);
  const large = new Uint8Array(20_000);
  assert.equal(shared({ name: "a", kind: "", bytes: large, base64: "" }), null);
});

test("a recording is a WAV file", () => {
  const bytes = toWav(Float32Array.from([0, 1, -2]), 16_000);
  assert.equal(kindOf(bytes), "audio/wav");
  const view = new DataView(bytes.buffer);
  assert.deepEqual([view.getUint32(24, true), view.getUint32(40, true)], [16_000, 6]);
  assert.deepEqual([44, 46, 48].map((place) => view.getInt16(place, true)), [0, 32767, -32767]);
});

test("numbers for the eye", () => {
  assert.deepEqual([1, 0.999, 0.123, 0.0123, 0.00001, 0, NaN].map(percent), ["100 %", "99.9 %", "12.3 %", "1.23 %", "< 0.01 %", "0.00 %", "–"]);
  assert.deepEqual([0.5, 0.0123, -0.25, 0.0001, -7.756].map(weight), ["0.50", "0.012", "−0.25", "0", "−7.76"]);
});
