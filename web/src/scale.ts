// The colours of values, as in the pictures of `gatto look`: a sequential scale for shares, which goes from the ground
// through green to blue (on a dark ground to pale yellow) with lightness that only falls (or rises), and a diverging one
// for signed values, blue against orange. Both can be told apart in every common form of colour blindness, and the first in
// grey too.

export type Ground = "light" | "dark";
export type Scale = "share" | "signed";
export type Colour = readonly [number, number, number];

const STOPS: Record<Ground, { share: readonly Colour[]; positive: readonly Colour[]; negative: readonly Colour[] }> = {
  light: {
    share: [[250, 251, 246], [217, 236, 195], [134, 203, 176], [58, 148, 180], [35, 90, 154], [18, 38, 92]],
    positive: [[250, 250, 248], [253, 211, 162], [241, 150, 69], [194, 91, 12], [118, 51, 4]],
    negative: [[250, 250, 248], [185, 215, 238], [99, 163, 212], [36, 104, 172], [12, 53, 107]],
  },
  dark: {
    share: [[28, 31, 38], [35, 58, 102], [31, 104, 128], [63, 156, 126], [162, 204, 106], [253, 243, 166]],
    positive: [[28, 31, 38], [102, 54, 18], [180, 93, 19], [240, 151, 66], [255, 220, 176]],
    negative: [[28, 31, 38], [23, 61, 104], [39, 111, 176], [106, 172, 224], [198, 226, 248]],
  },
};

/** The colour of a part of the scale, from 0 to 1, or from -1 for signed values. */
export function colour(scale: Scale, part: number, ground: Ground): Colour {
  const stops = STOPS[ground][scale === "share" ? "share" : part < 0 ? "negative" : "positive"];
  const bounded = Number.isFinite(part) ? Math.min(1, scale === "share" ? Math.max(0, part) : Math.abs(part)) : 0;
  const place = bounded * (stops.length - 1);
  const below = Math.min(Math.floor(place), stops.length - 2);
  const from = stops[below] as Colour;
  const to = stops[below + 1] as Colour;
  const mixed = (channel: 0 | 1 | 2): number =>
    Math.round(from[channel] + (to[channel] - from[channel]) * (place - below));
  return [mixed(0), mixed(1), mixed(2)];
}

export function hex(value: Colour): string {
  return `#${value.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

/** Black or white, whichever stands out more on a colour. */
export function ink(on: Colour): string {
  return contrast([0, 0, 0], on) >= contrast([255, 255, 255], on) ? "#000000" : "#ffffff";
}

/** The contrast of two colours, from 1 to 21, as the Web Content Accessibility Guidelines measure it. */
export function contrast(one: Colour, other: Colour): number {
  const [first, second] = [luminance(one), luminance(other)];
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
}

export function luminance(value: Colour): number {
  const linear = (channel: number): number => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(value[0]) + 0.7152 * linear(value[1]) + 0.0722 * linear(value[2]);
}

/** 256 colours of a scale as the bytes of pixels: for signed values the middle one is nothing. */
export function palette(scale: Scale, ground: Ground): Uint8ClampedArray {
  const bytes = new Uint8ClampedArray(256 * 4);
  for (let step = 0; step < 256; step += 1) {
    const part = scale === "share" ? step / 255 : (step - 128) / 127;
    bytes.set([...colour(scale, Math.max(-1, part), ground), 255], step * 4);
  }
  return bytes;
}

/** The step of a value in the palette. */
export function step(scale: Scale, value: number, limit: number): number {
  const part = limit > 0 && Number.isFinite(value) ? value / limit : 0;
  if (scale === "share") return Math.round(Math.min(1, Math.max(0, part)) * 255);
  return Math.round(Math.min(1, Math.max(-1, part)) * 127) + 128;
}

/** Colours of everything else in pictures that are saved; those of the style sheet. */
export interface Inks {
  readonly ground: string;
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly mark: string;
  readonly accent: string;
}

export function inks(ground: Ground): Inks {
  return ground === "light"
    ? { ground: "#ffffff", text: "#1d2127", quiet: "#5a616b", line: "#c9cdd3", mark: "#b5006a", accent: "#0b5cad" }
    : { ground: "#14161a", text: "#e8eaed", quiet: "#a4abb5", line: "#434a55", mark: "#ff7ac0", accent: "#8ab8ff" };
}
