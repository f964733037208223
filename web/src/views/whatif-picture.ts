// Both sides of a comparison as a picture.

import { drawn } from "../dom.js";
import { signed } from "../numbers.js";
import { lines, sheet, textWidth, words } from "../picture.js";
import { inks, type Ground } from "../scale.js";
import { heatmapPicture } from "./heatmap.js";
import type { Outcome, Said } from "./whatif-outcome.js";
import { looked, parts, summarised } from "./whatif-sides.js";

const WIDTH = 560;
const GAP = 30;
const MARGIN = 20;
const SIZE = 16;

interface Word extends Said {
  readonly mark: "gone" | "new" | null;
}

/** Words in lines, with what is gone struck out and what is new framed. */
function flow(of: readonly Word[], left: number, top: number, ground: Ground): { readonly made: SVGElement[]; readonly bottom: number } {
  const ink = inks(ground);
  const made: SVGElement[] = [];
  let [x, y] = [left, top];
  for (const word of of) {
    const wide = textWidth(word.text, SIZE, word.mark === "new" ? 600 : 400);
    if (x > left && x + wide > left + WIDTH) {
      x = left;
      y += SIZE * 1.8;
    }
    if (word.mark === "new") {
      made.push(drawn("rect", { x: x - 3, y: y - SIZE, width: wide + 6, height: SIZE * 1.4, rx: 3, fill: "none", stroke: ink.accent, "stroke-width": 1.5 }));
    }
    made.push(words(x, y, word.text, SIZE, word.mark === "gone" ? ink.mark : ink.text, "start", word.mark === "new" ? 600 : 400));
    if (word.mark === "gone") made.push(drawn("path", { d: `M${x} ${y - SIZE * 0.3}h${wide}`, stroke: ink.mark, "stroke-width": 1.5 }));
    x += wide + 9;
  }
  return { made, bottom: y + SIZE };
}

export function comparisonPicture(before: Outcome, after: Outcome | null, changes: readonly string[], ground: Ground): SVGSVGElement {
  const ink = inks(ground);
  const found = after ? parts(before, after) : null;
  const made: SVGElement[] = [];
  let down = MARGIN + 8;
  for (const line of [...lines(changes.join("; ") || "Nothing is changed.", 14, 2 * WIDTH + GAP), ...(found ? [summarised(found)] : [])]) {
    made.push(words(MARGIN, down, line, 14, ink.quiet));
    down += 22;
  }
  const sides: (readonly [string, Outcome, Word[]])[] = [
    ["Before", before, found
      ? found.flatMap((part) => (part.kind === "new" ? [] : [{ ...part.before, mark: part.kind === "gone" ? "gone" as const : null }]))
      : before.said.map((said) => ({ ...said, mark: null }))],
  ];
  if (after && found) {
    sides.push(["After", after, found.flatMap((part) => (part.kind === "gone" ? [] : [{ ...part.after, mark: part.kind === "new" ? "new" as const : null }]))]);
  }
  let bottom = down;
  const below = sides.map(([name, outcome, said], side) => {
    const left = MARGIN + side * (WIDTH + GAP);
    made.push(words(left, down + 14, name, 15, ink.text, "start", 600));
    const flown = flow(said, left, down + 42, ground);
    made.push(...flown.made);
    const share = outcome.shares.slice(0, 3).map(([label, part]) => `${label} ${(part * 100).toFixed(1)} %`).join(", ");
    const figures = outcome.log === null ? share : `log p ${signed(outcome.log, 2)}`;
    if (figures) made.push(words(left, flown.bottom + 8, figures, 13, ink.quiet));
    return flown.bottom + 24;
  });
  const top = Math.max(...below);
  bottom = top;
  sides.forEach(([, outcome], side) => {
    const sheet_ = looked(outcome);
    if (!sheet_) return;
    const map = heatmapPicture(sheet_, "", ground);
    const [width, height] = [Number(map.getAttribute("width")), Number(map.getAttribute("height"))];
    const shrunk = Math.min(1, WIDTH / width);
    map.setAttribute("x", String(MARGIN + side * (WIDTH + GAP)));
    map.setAttribute("y", String(top));
    map.setAttribute("width", String(Math.round(width * shrunk)));
    map.setAttribute("height", String(Math.round(height * shrunk)));
    made.push(map);
    bottom = Math.max(bottom, top + height * shrunk);
  });
  return sheet(2 * MARGIN + sides.length * WIDTH + (sides.length - 1) * GAP, bottom + MARGIN, ground, ...made);
}
