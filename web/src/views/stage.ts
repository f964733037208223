// Where a scene is played: ribbons between texts, a picture with regions, a recording with its words.

import { at, largest, row, column } from "../matrix.js";
import { colour, hex, ink, type Ground } from "../scale.js";
import { weight } from "../numbers.js";
import { MANY, type Scene } from "./scene.js";

/** What is pointed at. */
export interface Light {
  readonly side: "row" | "column";
  readonly index: number;
}

export interface StageEvents {
  /** Something is pointed at, or nothing. */
  point(light: Light | null): void;
  /** Something is to stay lit. */
  pin(light: Light): void;
}

export interface Stage {
  readonly whole: HTMLElement;
  /** Where what is pointed at is told, if there is room beside the picture. */
  readonly aside?: HTMLElement;
  show(scene: Scene, ground: Ground): void;
  light(light: Light | null, pinned: Light | null): void;
  /** All of it as a picture. */
  picture(): SVGSVGElement;
  close(): void;
}

export function same(one: Light | null, other: Light | null): boolean {
  return one?.side === other?.side && one?.index === other?.index;
}

/** How strong each place of the other side is, beside the strongest of the line: from 0 to 1, or from −1. */
export function lit(scene: Scene, light: Light): { readonly values: Float32Array; readonly limit: number } {
  const values = light.side === "row" ? row(scene.matrix, light.index) : column(scene.matrix, light.index);
  // A share is a share of 1; regions and stretches of time are many, and so each is small.
  const limit = scene.scale === "share" && scene.columns.length <= MANY ? 1 : largest(values) || 1;
  return { values, limit };
}

/** The colours of a token that is looked at so much. */
export function tint(scene: Scene, value: number, limit: number, ground: Ground): { fill: string; ink: string } {
  const fill = colour(scene.scale, value / limit, ground);
  return { fill: hex(fill), ink: ink(fill) };
}

/** What a token looks like and says: how much it is looked at, or looked, and without light how probable it was. */
export function dressed(
  scene: Scene,
  side: "row" | "column",
  light: Light | null,
  limit: number | null,
  ground: Ground,
): (index: number) => { fill: string; ink: string; number: string } | null {
  const found = light && light.side !== side ? lit(scene, light) : null;
  return (index) => {
    if (found) {
      const value = found.values[index] ?? 0;
      return { ...tint(scene, value, limit ?? found.limit, ground), number: weight(value) };
    }
    const written = side === "row" ? scene.logProbabilities?.[index] : undefined;
    return written === undefined ? null : { fill: "", ink: "", number: `p ${Math.exp(written).toFixed(2)}` };
  };
}

/** A ribbon: from which row to which column, and how wide and strong it is, from −1 to 1. */
export interface Ribbon {
  readonly row: number;
  readonly column: number;
  readonly part: number;
}

function ribbon(scene: Scene, row: number, column: number): Ribbon {
  const part = at(scene.matrix, row, column) / (scene.limit || 1);
  return { row, column, part: Math.max(-1, Math.min(1, part)) };
}

/** The ribbons from a threshold on, the strongest last and so on top; of very many the strongest alone. */
export function ribbonsOf(scene: Scene, threshold: number, most: number): Ribbon[] {
  const made: Ribbon[] = [];
  for (let row = 0; row < scene.rows.length; row += 1) {
    for (let column = 0; column < scene.columns.length; column += 1) {
      const one = ribbon(scene, row, column);
      if (one.part !== 0 && Math.abs(one.part) >= threshold) made.push(one);
    }
  }
  made.sort((one, other) => Math.abs(one.part) - Math.abs(other.part));
  return made.slice(-most);
}

/** All ribbons of what is lit, from a threshold on. */
export function litRibbons(scene: Scene, light: Light, threshold: number): Ribbon[] {
  const count = light.side === "row" ? scene.columns.length : scene.rows.length;
  const made = Array.from({ length: count }, (_, place) =>
    light.side === "row" ? ribbon(scene, light.index, place) : ribbon(scene, place, light.index));
  return made.filter(({ part }) => part !== 0 && Math.abs(part) >= threshold);
}
