import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, linear, logarithmic, share, tickName, tickStep } from "../src/views/runs-axis.js";
import { differing, keysOf } from "../src/views/runs-configuration.js";
import { extended, figuresOf, inOrder, nearest, pointsOf, smoothed, thinned, type Run } from "../src/views/runs-curves.js";

function run(curves: Run["curves"], more: Partial<Run> = {}): Run {
  return {
    name: "one", task: "translate", going_on: true, step: 0, steps: null, train_loss: null, valid_loss: null, best: null,
    seconds: null, changed: 0, configuration: "", samples: [], curves, ...more,
  };
}

test("ticks stand at round numbers and cover what is drawn", () => {
  assert.equal(tickStep(10, 5), 2);
  assert.equal(tickStep(1, 4), 0.5);
  assert.deepEqual(linear(0.13, 0.92, 5).ticks, [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(linear(0, 2500, 6).ticks, [0, 500, 1000, 1500, 2000, 2500]);
  assert.deepEqual(linear(NaN, 1, 5).ticks, [0, 1]);
  for (const [low, high] of [[3, 3], [0, 0], [-5, 17], [1e-9, 2e-9], [999, 1001]] as const) {
    const axis = linear(low, high, 6);
    assert(axis.least <= low && axis.most >= high && axis.most > axis.least, `${low} to ${high}`);
    assert(axis.ticks.length >= 2 && axis.ticks.length <= 9, `${axis.ticks.length} ticks`);
  }
  const powers = logarithmic(0.004, 6.4, 6);
  assert(powers.log && powers.least <= 0.004 && powers.most >= 6.4 && powers.ticks.length >= 3 && powers.ticks.length <= 12);
  assert.equal(share(powers, powers.least), 0);
  assert.equal(share(powers, powers.most), 1);
  assert.equal(logarithmic(0, 5, 5).log, false, "nought has no logarithm");
  assert.deepEqual([0, 12000, 2.5e6, 0.25, -3, 0.00002].map(tickName), ["0", "12 k", "2.5 M", "0.25", "−3", "2·10⁻⁵"]);
  assert.deepEqual([12, 600, 7200].map(duration), ["12 s", "10 min", "2 h"]);
});

test("smoothing keeps what is constant, has no pull of its beginning, and is nothing at nought", () => {
  const flat = Array.from({ length: 20 }, (_, x) => ({ x, y: 3 }));
  assert(smoothed(flat, 0.9).every(({ y }) => Math.abs(y - 3) < 1e-9));
  const points = [{ x: 0, y: 4 }, { x: 1, y: 2 }];
  assert.deepEqual(smoothed(points, 0), points);
  assert(Math.abs((smoothed(points, 0.5)[1]?.y ?? 0) - (0.25 * 4 + 0.5 * 2) / 0.75) < 1e-9);
});

test("thinning keeps the ends and the peaks", () => {
  const points = Array.from({ length: 10_000 }, (_, x) => ({ x, y: x === 5123 ? 100 : Math.sin(x / 50) }));
  const few = thinned(points, 200);
  assert(few.length <= 800 && few.length >= 200);
  assert.deepEqual([few[0]?.x, few[few.length - 1]?.x], [0, 9999]);
  assert(few.some(({ y }) => y === 100));
  assert(few.every((point, place) => place === 0 || point.x > (few[place - 1]?.x ?? 0)));
  assert.equal(thinned(points.slice(0, 30), 200).length, 30);
});

test("the nearest point", () => {
  const points = [1, 4, 10].map((x) => ({ x, y: 0 }));
  assert.deepEqual([0, 2, 3, 7, 8, 99].map((x) => nearest(points, x)), [0, 0, 1, 1, 2, 2]);
  assert.equal(nearest([], 1), null);
});

test("what is new of a run goes behind what was known, and takes its place where steps come again", () => {
  const known = run([{ name: "train.loss", steps: [50, 100, 150], values: [3, 2, 1] }], { samples: [{ step: 100, examples: [] }] });
  const fresh = run([
    { name: "train.loss", steps: [150, 200], values: [1.5, 1] },
    { name: "valid.loss", steps: [150], values: [1.2] },
  ], { step: 200, samples: [{ step: 150, examples: [] }] });
  const made = extended(known, fresh);
  assert.deepEqual(made.curves, [
    { name: "train.loss", steps: [50, 100, 150, 200], values: [3, 2, 1.5, 1] },
    { name: "valid.loss", steps: [150], values: [1.2] },
  ]);
  assert.deepEqual([made.step, made.samples.map(({ step }) => step)], [200, [100, 150]]);
  assert.deepEqual(inOrder({ name: "x", steps: [1, 2, 3, 2, 3], values: [1, 2, 3, 4, 5] }), { name: "x", steps: [1, 2, 3], values: [1, 4, 5] });
});

test("figures by step and by seconds", () => {
  const one = run([
    { name: "train.loss", steps: [50, 100], values: [3, 2] },
    { name: "train.seconds", steps: [50, 100], values: [7, 14] },
    { name: "valid.accuracy", steps: [100], values: [0.5] },
  ]);
  assert.deepEqual(figuresOf([one]), ["loss", "accuracy"]);
  assert.deepEqual(pointsOf(one, "train.loss", "seconds"), [{ x: 7, y: 3 }, { x: 14, y: 2 }]);
  assert.deepEqual(pointsOf(one, "valid.accuracy", "seconds"), [], "nobody knows when");
  assert.deepEqual(pointsOf(one, "valid.accuracy", "step"), [{ x: 100, y: 0.5 }]);
});

test("configurations differ in their keys, whatever their order and comments", () => {
  const one = 'seed = 1 # drawn\ntask = "a # b"\n[train]\nsteps = 400\nrates = [\n  1, # first\n  2,\n]\n[[data]]\npath = "x"\n[[data]]\npath = "y"\n';
  const other = '[train]\nrates = [1, 2]\nsteps = 800\n[[data]]\npath = "x"\n[[data]]\npath = "z"\n[top]\n# nothing\n';
  assert.deepEqual([...keysOf(one)], [["seed", "1"], ["task", '"a # b"'], ["train.steps", "400"], ["train.rates", "[1, 2]"], ["data.1.path", '"x"'], ["data.2.path", '"y"']]);
  const found = differing([one, `seed = 1\ntask = "a # b"\n${other}`]);
  assert.deepEqual(found.map(({ key, values }) => [key, ...values]), [
    ["data.2.path", '"y"', '"z"'],
    ["train.steps", "400", "800"],
  ]);
  assert.deepEqual(differing([one, other]).filter(({ key }) => key === "seed")[0]?.values, ["1", null]);
  assert.deepEqual(differing([one]), []);
  assert.deepEqual(differing(["[train]\nthinning = { below = 20, list = [1, 2], power = 3 }\nrate = 5e-3\ncount = 4_000_000",
    "[train]\nrate = 0.005\ncount = 4000000\n[train.thinning]\nbelow = 20\nlist = [1, 2]\npower = 3"]), []);
});
