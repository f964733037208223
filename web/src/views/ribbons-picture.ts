// Ribbons between two texts, as a picture: two columns of tokens, all of them.

import { drawn } from "../dom.js";
import { round, sheet, shortened, textWidth, words } from "../picture.js";
import { colour, hex, inks, type Ground } from "../scale.js";
import { isRightToLeft } from "../tokens.js";
import { litRibbons, ribbonsOf, type Light } from "./stage.js";
import type { Scene } from "./scene.js";

const SIZE = 15;
const GAP = 14;
const BETWEEN = 180;
const WIDEST = 200;
const MARGIN = 24;

/** Where each token of a row stands, with its width. */
export function laidOut(texts: readonly string[], widths: readonly number[], gap: number): { readonly left: number[]; readonly width: number } {
  let across = 0;
  const left = texts.map((_, place) => {
    const found = across;
    across += (widths[place] ?? 0) + gap;
    return found;
  });
  return { left, width: Math.max(0, across - gap) };
}

/** Rows where they are not too wide, columns otherwise. */
export function ribbonsPicture(scene: Scene, light: Light | null, threshold: number, most: number, ground: Ground): SVGSVGElement {
  const ink = inks(ground);
  const texts = [scene.columns, scene.rows].map((places) => places.map(({ text }) => shortened(text, SIZE, WIDEST)));
  const widths = texts.map((side) => side.map((text) => Math.max(12, textWidth(text, SIZE))));
  const rows = texts.map((side, which) => laidOut(side, widths[which] ?? [], GAP));
  const turned = [scene.columns, scene.rows].map((places) => isRightToLeft(places.map(({ text }) => text).join(" ")));
  const wide = Math.max(...rows.map(({ width }) => width));
  const flat = wide <= 1400;
  const widest = (which: number): number => Math.max(0, ...(widths[which] ?? []));
  const anchor = (which: 0 | 1, place: number): readonly [number, number] => {
    const row = rows[which] as { left: number[]; width: number };
    if (flat) {
      const indent = (wide - row.width) / 2;
      const along = (row.left[place] ?? 0) + ((widths[which] ?? [])[place] ?? 0) / 2;
      const x = MARGIN + indent + (turned[which] ? row.width - along : along);
      return [x, which === 0 ? MARGIN + SIZE + 8 : MARGIN + SIZE + 8 + BETWEEN];
    }
    const y = MARGIN + (place + 0.7) * SIZE * 1.6;
    return [which === 0 ? MARGIN + widest(0) + 8 : MARGIN + widest(0) + 8 + BETWEEN, y];
  };
  const lit = light ? litRibbons(scene, light, threshold) : [];
  const rest = ribbonsOf(scene, threshold, most).filter((one) =>
    !light || (light.side === "row" ? one.row : one.column) !== light.index);
  const curves = [...rest, ...lit].map((one) => {
    const [[x1, y1], [x2, y2]] = [anchor(0, one.column), anchor(1, one.row)];
    const size = Math.abs(one.part);
    const path = flat
      ? `M${round(x1)} ${round(y1)}C${round(x1)} ${round((y1 + y2) / 2)} ${round(x2)} ${round((y1 + y2) / 2)} ${round(x2)} ${round(y2)}`
      : `M${round(x1)} ${round(y1)}C${round((x1 + x2) / 2)} ${round(y1)} ${round((x1 + x2) / 2)} ${round(y2)} ${round(x2)} ${round(y2)}`;
    return drawn("path", {
      d: path,
      fill: "none",
      stroke: hex(colour(scene.scale, Math.sign(one.part) * (0.55 + 0.3 * size), ground)),
      "stroke-width": round(1 + 9 * size),
      "stroke-opacity": round(!light || lit.includes(one) ? 0.25 + 0.7 * size : 0.07),
      "stroke-dasharray": one.part < 0 ? "6 4" : null,
    });
  });
  const labels = ([0, 1] as const).flatMap((which) => (texts[which] ?? []).map((text, place) => {
    const [x, y] = anchor(which, place);
    if (flat) return words(x, which === 0 ? y - 8 : y + SIZE + 2, text, SIZE, ink.text, "middle");
    return words(which === 0 ? x - 6 : x + 6, y + SIZE * 0.35, text, SIZE, ink.text, which === 0 ? "end" : "start");
  }));
  const longest = Math.max(scene.rows.length, scene.columns.length);
  const width = flat ? wide + 2 * MARGIN : 2 * MARGIN + widest(0) + widest(1) + 16 + BETWEEN;
  const height = flat ? 2 * MARGIN + 2 * SIZE + 24 + BETWEEN : 2 * MARGIN + (longest + 0.4) * SIZE * 1.6;
  return sheet(width, height, ground, ...curves, ...labels);
}
