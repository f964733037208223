// A search as a picture that grows to the right: a column for each step, a box for each candidate, a line from what it
// continues. What came out is filled, what was followed has a whole frame, what was let go of a dashed one; an end is
// round; where greedy search alone goes, frames and lines are dotted and have its letter.

import { drawn } from "../dom.js";
import { percent, signed } from "../numbers.js";
import { round, sheet, shortened, textWidth, words } from "../picture.js";
import { inks, type Ground, type Inks } from "../scale.js";
import { short, story } from "./steps-words.js";
import { isPruned, type Node, type Tree } from "./tree-nodes.js";
import type { Layout } from "./tree-layout.js";

const SIZE = 14;
const WIDEST = 150;
const BOX = 36;
const PITCH = 46;
const GAP = 40;
const MARGIN = 14;
const HEAD = 26;

/** Where columns stand. */
export interface Places {
  readonly left: readonly number[];
  readonly width: readonly number[];
  readonly whole: number;
  readonly height: number;
}

export function measure(tree: Tree, layout: Layout): Places {
  const left: number[] = [];
  const width: number[] = [];
  let across = MARGIN + GAP;
  for (const column of layout.columns) {
    const widest = column.reduce((most, number) => {
      const node = tree.nodes[number] as Node;
      return Math.max(most, Math.min(WIDEST, textWidth(node.token, SIZE, 600)), textWidth(figures(node), 11));
    }, 20);
    left.push(across);
    width.push(Math.ceil(widest) + 18);
    across += Math.ceil(widest) + 18 + GAP;
  }
  return { left, width, whole: across - GAP + MARGIN, height: HEAD + layout.height * PITCH + MARGIN };
}

export function boxOf(tree: Tree, layout: Layout, places: Places, number: number): { x: number; y: number; width: number; height: number } {
  const { step } = tree.nodes[number] as Node;
  return {
    x: places.left[step] ?? 0,
    y: HEAD + (layout.rows[number] ?? 0) * PITCH,
    width: places.width[step] ?? 0,
    height: BOX,
  };
}

/** Columns that stand between two places, with one more on either side. */
export function columnsBetween(places: Places, from: number, to: number): readonly [number, number] {
  const first = places.left.findIndex((left, column) => left + (places.width[column] ?? 0) >= from);
  const behind = places.left.findIndex((left) => left > to);
  return [Math.max(0, (first < 0 ? places.left.length : first) - 1), behind < 0 ? places.left.length - 1 : behind];
}

/** What is said of a node to those who listen. */
export function spoken(tree: Tree, node: Node): string {
  const score = node.score === null ? "" : `, score ${signed(node.score, 2)}`;
  return `${node.token}, step ${node.step + 1}, probability ${percent(Math.exp(node.logProbability))}${score}. ${story(node, tree)}`;
}

function figures(node: Node): string {
  return node.score === null ? percent(Math.exp(node.logProbability)) : signed(node.score, 2);
}

type Look = "best" | "output" | "followed" | "left" | "greedy";

function lookOf(tree: Tree, node: Node): Look {
  if (node.rank === 0) return "best";
  if (node.greedy && tree.greedyDiffers) return "greedy";
  if (node.rank !== null) return "output";
  return isPruned(node) || node.became === "overtaken" || node.became === "dropped" ? "left" : "followed";
}

const FRAMES: Record<Look, { readonly width: number; readonly dashes: string | null }> = {
  best: { width: 2, dashes: null },
  output: { width: 2, dashes: null },
  followed: { width: 1.25, dashes: null },
  left: { width: 1.25, dashes: "4 3" },
  greedy: { width: 2, dashes: "1.5 3" },
};

function strokeOf(look: Look, ink: Inks): string {
  if (look === "best" || look === "output") return ink.accent;
  return look === "greedy" ? ink.mark : ink.quiet;
}

/** Columns from one to another: first the lines, then the boxes, each a group that names its node. */
export function treeParts(
  tree: Tree,
  layout: Layout,
  places: Places,
  range: readonly [number, number],
  ground: Ground,
  more: readonly number[] = [],
): { readonly lines: SVGElement[]; readonly boxes: SVGGElement[] } {
  const ink = inks(ground);
  const numbers = new Set<number>(more.filter((number) => layout.rows[number] !== null));
  for (let column = range[0]; column <= range[1]; column += 1) for (const number of layout.columns[column] ?? []) numbers.add(number);
  const lines: SVGElement[] = [];
  const boxes: SVGGElement[] = [];
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const node = tree.nodes[number] as Node;
    const look = lookOf(tree, node);
    const box = boxOf(tree, layout, places, number);
    const from = node.parent === null
      ? { x: MARGIN - 6, y: HEAD, width: 6, height: BOX }
      : boxOf(tree, layout, places, node.parent);
    lines.push(line(from, box, look, ink));
    boxes.push(boxed(node, number, box, look, ink));
  }
  return { lines, boxes };
}

function line(from: ReturnType<typeof boxOf>, to: ReturnType<typeof boxOf>, look: Look, ink: Inks): SVGElement {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + BOX / 2, to.x, to.y + BOX / 2];
  const middle = x2 - GAP / 2;
  const { width, dashes } = FRAMES[look];
  return drawn("path", {
    d: `M${round(x1)} ${round(y1)}H${round(x2 - GAP)}C${round(middle)} ${round(y1)} ${round(middle)} ${round(y2)} ${round(x2)} ${round(y2)}`,
    fill: "none", stroke: strokeOf(look, ink), "stroke-width": look === "best" ? 3 : width, "stroke-dasharray": dashes,
    "stroke-opacity": look === "left" ? 0.7 : null,
  });
}

function boxed(node: Node, number: number, box: ReturnType<typeof boxOf>, look: Look, ink: Inks): SVGGElement {
  const { width, dashes } = FRAMES[look];
  const ended = node.became === "finished" || node.became === "unfinished";
  const [text, quiet] = look === "best" ? [ink.ground, ink.ground] : [look === "left" ? ink.quiet : ink.text, ink.quiet];
  const told = shortened(node.token, SIZE, box.width - 14);
  const group = drawn("g", { "data-node": number },
    drawn("rect", {
      x: round(box.x), y: round(box.y), width: round(box.width), height: box.height, rx: ended ? BOX / 2 : 5,
      fill: look === "best" ? ink.accent : ink.ground, stroke: strokeOf(look, ink), "stroke-width": width, "stroke-dasharray": dashes,
    }),
    words(box.x + box.width / 2, box.y + 16, told, SIZE, text, "middle", look === "left" ? 400 : 600),
    words(box.x + box.width / 2, box.y + 30, figures(node), 11, quiet, "middle"));
  if (look === "greedy") {
    group.append(
      drawn("circle", { cx: round(box.x + box.width), cy: round(box.y), r: 7, fill: ink.mark }),
      words(box.x + box.width, box.y + 3.5, "g", 10, ink.ground, "middle", 700));
  }
  if (node.ends !== null) {
    group.append(
      drawn("circle", { cx: round(box.x + box.width - 2), cy: round(box.y), r: 8, fill: ink.text }),
      words(box.x + box.width - 2, box.y + 4, String(node.ends + 1), 11, ink.ground, "middle", 700));
  }
  return group;
}

/** The numbers of steps over their columns. */
export function stepNumbers(places: Places, range: readonly [number, number], now: number, ground: Ground): SVGElement[] {
  const ink = inks(ground);
  const made: SVGElement[] = [];
  for (let column = range[0]; column <= range[1]; column += 1) {
    const [left, width] = [places.left[column] ?? 0, places.width[column] ?? 0];
    if (column === now) {
      made.push(drawn("rect", { x: left - 8, y: 0, width: width + 16, height: places.height, fill: ink.text, "fill-opacity": 0.07 }));
    }
    made.push(words(left + width / 2, 16, String(column + 1), 12, column === now ? ink.text : ink.quiet, "middle", column === now ? 700 : 400));
  }
  return made;
}

/** The whole tree as a picture. */
export function treePicture(tree: Tree, layout: Layout, title: string, ground: Ground): SVGSVGElement {
  const places = measure(tree, layout);
  const range: readonly [number, number] = [0, layout.columns.length - 1];
  const { lines, boxes } = treeParts(tree, layout, places, range, ground);
  for (const box of boxes) {
    const node = tree.nodes[Number(box.getAttribute("data-node"))] as Node;
    box.prepend(drawn("title", {}, `${short(node)}: ${spoken(tree, node)}`));
    box.removeAttribute("data-node");
  }
  const all = drawn("g", { transform: "translate(0 34)" }, ...stepNumbers(places, range, -1, ground), ...lines, ...boxes);
  const heading = words(MARGIN, 24, title, 16, inks(ground).text, "start", 600);
  return sheet(Math.max(places.whole, textWidth(title, 16, 600) + 2 * MARGIN), places.height + 34, ground, heading, all);
}
