// What became of a candidate, in words: short beside it, and in full for those who ask.

import { signed } from "../numbers.js";
import { plain } from "../tokens.js";
import { isPruned, type Node, type Tree } from "./tree-nodes.js";

type Told = Pick<Node, "became" | "ends" | "by" | "score" | "greedy" | "rank">;

/** In as few words as fit beside a token. */
export function short(node: Told): string {
  switch (node.became) {
    case "overtaken": return "overtaken";
    case "greedy-only": return "greedy alone";
    case "given": return "given";
    case "kept": return "kept";
    case "finished": return node.ends === null ? "ended, outscored" : `ended, number ${node.ends + 1}`;
    case "unfinished": return node.ends === null ? "cut off" : `cut off, number ${node.ends + 1}`;
    case "dropped": return "left open";
    case "beaten": return node.by === undefined ? "beaten" : `beaten by ${margin(node.by)}`;
    case "forbidden": return "forbidden";
    case "repeated": return "would repeat";
    case "too-short": return "too short";
    case "again": return "ended before";
    case "phrases": return "phrases first";
  }
}

/** In whole sentences. */
export function story(node: Told, tree: Pick<Tree, "groups" | "greedyDiffers">): string {
  const told = became(node, tree);
  return node.greedy && node.became !== "greedy-only" && tree.greedyDiffers ? `${told} Greedy search goes this way.` : told;
}

function became(node: Told, tree: Pick<Tree, "groups">): string {
  const score = node.score === null ? "unknown" : signed(node.score, 2);
  switch (node.became) {
    case "overtaken":
      return "It was kept, but at the next step all places went to continuations of other hypotheses.";
    case "greedy-only":
      return "The beam did not follow this. Greedy search, which has one hypothesis alone, goes on with it.";
    case "given": return "It was given: the output had to begin so.";
    case "kept": return "It was kept, and went on.";
    case "finished":
      return node.ends === null
        ? `It ended the output, but its score, ${score}, was not enough for a place among the best.`
        : `It ended the output, which came out as number ${node.ends + 1} with the score ${score}.`;
    case "unfinished":
      return `The output reached its longest length without an end. As none had ended, it came out${node.ends === null ? "" : ` as number ${node.ends + 1}`}.`;
    case "dropped":
      return "It was still open when the search ended: it could no longer win, or had reached the longest length.";
    case "beaten": {
      const penalty = tree.groups > 1 ? ", less the penalty of its group," : "";
      const by = node.by === undefined ? "" : `${margin(node.by)} `;
      return `It was pruned, as the beam was full: its log p${penalty} was ${by}short of the last candidate that got a place.`;
    }
    case "forbidden": return "It was pruned: this token, or the sequence that it completes, is never to be written.";
    case "repeated": return "It was pruned: it would repeat a sequence of tokens that the output has already.";
    case "too-short": return "It was pruned: the output may not end before it has its shortest length.";
    case "again": return "It was pruned: another group had ended the same output.";
    case "phrases":
      return "It was pruned: phrases that must appear had no room left, were missing at the end, or had their places kept for them.";
  }
}

/** How much something was short. */
function margin(by: number): string {
  if (!Number.isFinite(by)) return "far";
  return by < 0.005 ? "less than 0.01" : by.toFixed(2);
}

/** A mark before what became of it, so that colour is not all: kept, ended, pruned. */
export function sign(node: Told): string {
  if (node.became === "finished" || node.became === "unfinished") return "■";
  if (node.became === "given") return "◆";
  return isPruned(node) || node.became === "dropped" ? "×" : "●";
}

/**
 * Tokens as a text, by the marks of their tokenizer: pieces are put together, words stand apart. Only for the eye; the
 * service knows what the text of an output is.
 */
export function joined(tokens: readonly string[]): string {
  if (tokens.some((token) => /^[▁Ġ]/.test(token))) {
    return tokens.map((token) => (/^[▁Ġ]/.test(token) ? ` ${plain(token)}` : token)).join("").trim();
  }
  if (tokens.some((token) => token.endsWith("</w>"))) {
    return tokens.map((token) => (token.endsWith("</w>") ? `${plain(token)} ` : token)).join("").trim();
  }
  return tokens.map((token, place) => {
    const glued = place === 0 || token.startsWith("##") || tokens[place - 1]?.endsWith("@@");
    return `${glued ? "" : " "}${plain(token)}`;
  }).join("");
}
