// The candidates of a step, a line each: how probable, what they are ranked by, and what became of them.

import { button, element, fill } from "../dom.js";
import { percent, signed } from "../numbers.js";
import { joined, short, sign, story } from "./steps-words.js";
import { isPruned, pathTo, type Node, type Tree } from "./tree-nodes.js";

export interface StepTable {
  readonly whole: HTMLElement;
  show(tree: Tree, step: number, end: string | null): void;
}

/** Why a candidate cannot be forced; nothing if it can. */
export function unforcible(node: Node, end: string | null): string | null {
  if (node.became === "given") return "It is given already.";
  if (node.became === "forbidden") return "It is forbidden.";
  return node.token === end ? "An end cannot be forced." : null;
}

export function stepTable(force: (path: readonly Node[]) => void): StepTable {
  const body = element("tbody");
  const table = element("table", { class: "candidates" },
    element("caption", { class: "visually-hidden" }, "The candidates of this step"),
    element("thead", {}, element("tr", {},
      ...["Candidate", "Probability", "Score", "What became of it"].map((name) => element("th", { with: { scope: "col" } }, name)))),
    body);

  return {
    whole: table,
    show(tree, step, end) {
      const numbers = tree.nodes.flatMap((node, number) => (node.step === step && node.place !== null ? [number] : []));
      numbers.sort((one, other) => (tree.nodes[one]?.place ?? 0) - (tree.nodes[other]?.place ?? 0));
      fill(body, ...numbers.map((number) => line(tree, number, end, force)));
    },
  };
}

function line(tree: Tree, number: number, end: string | null, force: (path: readonly Node[]) => void): HTMLElement {
  const path = pathTo(tree.nodes, number).map((at) => tree.nodes[at] as Node);
  const node = path[path.length - 1] as Node;
  const before = joined(path.slice(0, -1).map(({ token }) => token));
  const probability = Math.exp(node.logProbability);
  const reason = unforcible(node, end);
  const token = element("bdi", {}, node.token);
  const name = reason !== null
    ? element("span", { class: "candidate", with: { title: reason } }, token)
    : button("", () => force(path), { class: "candidate", with: { title: "Write this, and decode on", "aria-label": `Write ${node.token} here, and decode on` } });
  if (reason === null) name.append(token);
  const pruned = isPruned(node) || node.became === "dropped";
  const kind = node.rank === 0 ? "best" : pruned ? "pruned" : "kept";
  return element("tr", { class: kind, with: { "data-fate": node.became } },
    element("th", { with: { scope: "row" } }, name,
      element("span", { class: "so-far" },
        ...(before ? ["behind “", element("bdi", { with: { title: before } }, ending(before)), "”"] : ["at the beginning"]),
        node.entropy === undefined ? null : `, entropy ${signed(node.entropy, 2)}`)),
    element("td", {},
      element("span", { class: "track", with: { "aria-hidden": "true" } },
        element("span", { class: "fill", style: { width: `${Math.max(0.5, probability * 100)}%` } })),
      element("span", { class: "number" }, percent(probability), " ", element("small", {}, `log p ${signed(node.logProbability, 3)}`))),
    element("td", { class: "number" }, node.score === null ? "–" : signed(node.score, 2)),
    element("td", { class: "fate", with: { title: story(node, tree) } },
      element("span", { class: "sign", with: { "aria-hidden": "true" } }, sign(node)), " ", short(node),
      node.rank === 0 ? element("strong", { class: "badge" }, "output") : null,
      node.greedy && tree.greedyDiffers ? element("span", { class: "badge greedy" }, "greedy") : null));
}

/** How much of a hypothesis is written beside a candidate; all of it is in the tree. */
const MOST = 60;

/** The end of a text, from a word on. */
function ending(text: string): string {
  const letters = [...text];
  return letters.length <= MOST ? text : `… ${letters.slice(-MOST).join("").replace(/^\S*\s+/, "")}`;
}
