// Axes: where their ticks stand and what they are called.

export interface Axis {
  readonly least: number;
  readonly most: number;
  readonly log: boolean;
  readonly ticks: readonly number[];
}

/** Steps of 1, 2 or 5 times a power of ten: the smallest with which there are no more than so many. */
export function tickStep(span: number, most: number): number {
  const raw = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  return ([1, 2, 5].find((factor) => factor * power >= raw * (1 - 1e-9)) ?? 10) * power;
}

/** An axis over values; nothing and one value have one too. */
export function linear(low: number, high: number, most: number): Axis {
  if (!(Number.isFinite(low) && Number.isFinite(high))) return { least: 0, most: 1, log: false, ticks: [0, 1] };
  const wide = high - low || Math.abs(high) || 1;
  const [from, to] = high > low ? [low, high] : [low - wide / 2, high + wide / 2];
  const step = tickStep(to - from, most);
  const [first, last] = [Math.floor(from / step + 1e-9), Math.ceil(to / step - 1e-9)];
  // Multiplied, not added up, so that no error adds up; rounded, so that 0.3 is 0.3.
  const ticks = Array.from({ length: last - first + 1 }, (_, place) => Number(((first + place) * step).toPrecision(12)));
  return { least: ticks[0] ?? from, most: ticks[ticks.length - 1] ?? to, log: false, ticks };
}

/** An axis by powers of ten, for values above nought. */
export function logarithmic(low: number, high: number, most: number): Axis {
  if (!(low > 0 && Number.isFinite(high))) return linear(low, high, most);
  const decades = Math.log10(high / low);
  const factors = decades < 1.2 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : decades < 3 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / Math.max(1, most)));
  const all: number[] = [];
  for (let power = Math.floor(Math.log10(low)) - 1; power <= Math.ceil(Math.log10(high)) + 1; power += 1) {
    if (factors.length === 1 && power % every !== 0) continue;
    for (const factor of factors) all.push(Number(`${factor}e${power}`));
  }
  const below = all.filter((tick) => tick <= low).pop() ?? low;
  const above = all.find((tick) => tick >= high) ?? high;
  const ticks = all.filter((tick) => tick >= below && tick <= above);
  const thinned = ticks.filter((tick, place) => place % Math.ceil(ticks.length / Math.max(2, most * 1.5)) === 0 || tick === below);
  return { least: below, most: above > below ? above : below * 10, log: true, ticks: thinned };
}

/** Where a value stands on an axis, from 0 to 1. */
export function share(axis: Axis, value: number): number {
  const scaled = (number: number): number => (axis.log ? Math.log10(Math.max(number, 1e-300)) : number);
  return (scaled(value) - scaled(axis.least)) / (scaled(axis.most) - scaled(axis.least));
}

/** A number on an axis. */
export function tickName(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return "0";
  const minus = value < 0 ? "−" : "";
  if (size >= 1e6) return `${minus}${Number((size / 1e6).toPrecision(4))} M`;
  if (size >= 1e4) return `${minus}${Number((size / 1e3).toPrecision(4))} k`;
  if (size >= 1e-4) return `${minus}${Number(size.toPrecision(4))}`;
  return `${minus}${size.toExponential(0).replace("e-", "·10⁻").replace(/[0-9]+$/, (digits) => [...digits].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".charAt(Number(digit))).join(""))}`;
}

/** Seconds as people say them. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Number((seconds / 60).toPrecision(3))} min`;
  return `${Number((seconds / 3600).toPrecision(3))} h`;
}
