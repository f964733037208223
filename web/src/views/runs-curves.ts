// Curves of runs: put together as they come, smoothed, and thinned to what a screen can show.

export interface Curve {
  readonly name: string;
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Example {
  readonly source?: string;
  readonly reference: string;
  readonly output: string;
}

export interface Sampled {
  readonly step: number;
  readonly examples: readonly Example[];
}

export interface RunInfo {
  readonly name: string;
  readonly task: string | null;
  readonly going_on: boolean;
  readonly step: number;
  readonly steps: number | null;
  readonly train_loss: number | null;
  readonly valid_loss: number | null;
  readonly best: { readonly step: number; readonly loss: number | null } | null;
  readonly seconds: number | null;
  readonly changed: number;
}

export interface Run extends RunInfo {
  readonly configuration: string;
  readonly curves: readonly Curve[];
  readonly samples: readonly Sampled[];
}

/** A later figure of a step takes the place of an earlier one and of all behind it: a run may have gone on from a checkpoint. */
export function inOrder(curve: Curve): Curve {
  const steps: number[] = [];
  const values: number[] = [];
  curve.steps.forEach((step, place) => {
    while (steps.length > 0 && (steps[steps.length - 1] as number) >= step) {
      steps.pop();
      values.pop();
    }
    steps.push(step);
    values.push(curve.values[place] as number);
  });
  return { name: curve.name, steps, values };
}

/** What was known of a run, with what is new of it. */
export function extended(known: Run, fresh: Run): Run {
  const before = new Map(known.curves.map((curve) => [curve.name, curve]));
  for (const curve of fresh.curves) {
    const old = before.get(curve.name);
    before.set(curve.name, inOrder(old
      ? { name: curve.name, steps: [...old.steps, ...curve.steps], values: [...old.values, ...curve.values] }
      : curve));
  }
  const first = fresh.samples[0]?.step ?? Infinity;
  return {
    ...fresh,
    curves: [...before.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
    samples: [...known.samples.filter(({ step }) => step < first), ...fresh.samples],
  };
}

/**
 * An exponential moving average without the pull of its beginning: s ← w s + (1 − w) y, divided by 1 − wⁿ. With w = 0 a
 * curve stays as it is.
 */
export function smoothed(points: readonly Point[], weight: number): Point[] {
  let [sum, bias] = [0, 0];
  return points.map(({ x, y }) => {
    if (!Number.isFinite(y)) return { x, y };
    sum = weight * sum + (1 - weight) * y;
    bias = weight * bias + (1 - weight);
    return { x, y: bias > 0 ? sum / bias : y };
  });
}

/** At most four points for each of so many stretches: the first, the least, the largest and the last, so that no peak is lost. */
export function thinned(points: readonly Point[], stretches: number): Point[] {
  if (points.length <= stretches * 4) return [...points];
  const [from, to] = [points[0]?.x ?? 0, points[points.length - 1]?.x ?? 1];
  const made: Point[] = [];
  let place = 0;
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const end = from + ((to - from) * (stretch + 1)) / stretches;
    const own: number[] = [];
    while (place < points.length && ((points[place] as Point).x <= end || stretch === stretches - 1)) own.push(place++);
    if (own.length === 0) continue;
    const by = (better: (one: number, other: number) => boolean): number =>
      own.reduce((best, one) => (better((points[one] as Point).y, (points[best] as Point).y) ? one : best));
    const kept = new Set([own[0] as number, by((one, other) => one < other), by((one, other) => one > other), own[own.length - 1] as number]);
    made.push(...[...kept].sort((one, other) => one - other).map((one) => points[one] as Point));
  }
  return made;
}

/** The place of the point that is nearest to an x; nothing where there are none. */
export function nearest(points: readonly Point[], x: number): number | null {
  if (points.length === 0) return null;
  let [low, high] = [0, points.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle] as Point).x < x) low = middle + 1;
    else high = middle;
  }
  const before = points[low - 1];
  return before && x - before.x <= (points[low] as Point).x - x ? low - 1 : low;
}

/** The points of a figure, by step or by seconds of training. */
export function pointsOf(run: Run, name: string, by: "step" | "seconds"): Point[] {
  const curve = run.curves.find((one) => one.name === name);
  if (!curve) return [];
  const clock = by === "seconds" ? run.curves.find((one) => one.name === `${name.split(".")[0] ?? ""}.seconds`) : null;
  const seconds = new Map(clock?.steps.map((step, place) => [step, clock.values[place] as number]) ?? []);
  return curve.steps.flatMap((step, place) => {
    const x = by === "step" ? step : seconds.get(step);
    return x === undefined ? [] : [{ x, y: curve.values[place] as number }];
  });
}

/** Figures of runs without what they are of: `loss` of `train.loss` and `valid.loss`. */
export function figuresOf(runs: readonly Run[]): string[] {
  const hidden = new Set(["seconds", "epoch", "best"]);
  const all = new Set(runs.flatMap(({ curves }) => curves.map(({ name }) => name.slice(name.indexOf(".") + 1))));
  const order = ["loss", "perplexity", "accuracy", "exact_match"];
  return [...all].filter((name) => !hidden.has(name)).sort((one, other) => {
    const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
    return rank(one) - rank(other) || (one < other ? -1 : 1);
  });
}
