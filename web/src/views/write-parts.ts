// The parts of an answer: bars of probability, labelled words, lists of outputs.

import type { Answer, Output, SpokenWord } from "../api.js";
import { element } from "../dom.js";
import { percent, signed } from "../numbers.js";

/** Bars, the longest first. */
export function bars(title: string, shares: readonly (readonly [string, number])[]): HTMLElement {
  const sorted = [...shares].sort((one, other) => other[1] - one[1]);
  return element("section", { class: "bars" }, element("h2", {}, title), element("ol", {},
    ...sorted.map(([name, share]) => element("li", {},
      element("bdi", { class: "name" }, name),
      element("span", { class: "track", with: { "aria-hidden": "true" } },
        element("span", { class: "fill", style: { width: `${Math.max(0.4, share * 100)}%` } })),
      element("span", { class: "number" }, percent(share))))));
}

/** Tokens with how probable each was. */
export function outputTokens(output: Output): HTMLElement {
  const row = output.log_probabilities.map((value, place) => {
    const given = place < (output.given ?? 0);
    const probability = Math.exp(value);
    return element("li", { class: given ? "token given" : "token" },
      element("bdi", {}, output.tokens[place] ?? "⟨end⟩"),
      element("span", { class: "track", with: { "aria-hidden": "true" } },
        element("span", { class: "fill", style: { width: `${Math.max(2, probability * 100)}%` } })),
      element("span", { class: "number" }, given ? "given" : percent(probability)));
  });
  return element("section", {},
    element("h2", {}, "Tokens, and how probable each was"),
    element("ol", { class: "tokens" }, ...row),
    output.finished ? null : element("p", { class: "quiet" }, "It was cut off at the limit of its length."));
}

/** Outputs, the best first, or as they were drawn. */
export function nBest(outputs: readonly Output[], drawn: boolean): HTMLElement {
  const best = Math.exp(Math.max(...outputs.map(({ score }) => score)));
  return element("section", { class: "bars" }, element("h2", {}, drawn ? "What was drawn" : "The best outputs"), element("ol", { class: "outputs" },
    ...outputs.map((output) => element("li", {},
      element("bdi", { class: "name" }, output.text || "(nothing)"),
      element("span", { class: "track", with: { "aria-hidden": "true" } },
        element("span", { class: "fill", style: { width: `${Math.max(0.4, (Math.exp(output.score) / Math.max(best, 1e-30)) * 100)}%` } })),
      element("span", { class: "number" }, percent(Math.exp(output.score)), element("small", {}, `score ${signed(output.normalised_score, 2)}`))))));
}

/** Words with their labels. */
export function labelled(answer: Answer): HTMLElement {
  const words = (answer.words ?? []) as readonly string[];
  return element("section", {}, element("h2", {}, "Words and their labels"), element("ol", { class: "tokens labelled" },
    ...words.map((word, place) => element("li", { class: "token" },
      element("bdi", {}, word),
      element("strong", {}, answer.labels?.[place] ?? ""),
      element("span", { class: "number" }, percent(answer.confidences?.[place] ?? 0))))));
}

/** What was heard, and when. */
export function spoken(answer: Answer): HTMLElement {
  const words = (answer.words ?? []) as readonly SpokenWord[];
  const pieces = answer.pieces ?? [];
  const time = (value: number | undefined): string => (value === undefined ? "" : value.toFixed(2));
  return element("section", {},
    element("h2", {}, `What was heard in ${(answer.seconds ?? 0).toFixed(1)} seconds`),
    words.length === 0 ? null : element("ol", { class: "tokens" }, ...words.map((word) => element("li", { class: "token" },
      element("bdi", {}, word.word),
      element("span", { class: "number" }, word.start === undefined ? "" : `${time(word.start)}–${time(word.end)} s`),
      word.probability === null ? null : element("span", { class: "number" }, percent(word.probability))))),
    pieces.length < 2 ? null : element("ol", { class: "pieces" }, ...pieces.map((piece) => element("li", {},
      element("span", { class: "number" }, `${time(piece.start)}–${time(piece.end)} s`), " ", element("bdi", {}, piece.text || "(nothing)")))));
}
