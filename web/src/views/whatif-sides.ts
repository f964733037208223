// Two outcomes side by side: what is gone is struck out, what is new is framed.

import { element, fill } from "../dom.js";
import { counted, difference, type Part } from "../difference.js";
import { percent, signed } from "../numbers.js";
import type { Ground } from "../scale.js";
import { places } from "../tokens.js";
import { weight } from "../numbers.js";
import { at } from "../matrix.js";
import { heatmap, type Sheet } from "./heatmap.js";
import type { Outcome, Said } from "./whatif-outcome.js";

export interface Sides {
  readonly whole: HTMLElement;
  show(before: Outcome, after: Outcome | null, old: number | null, ground: Ground): void;
  /** What is different, in words. */
  summary(): string;
  close(): void;
}

export function parts(before: Outcome, after: Outcome): Part<Said>[] {
  return difference(before.said, after.said, ({ text }) => text);
}

/** How many words are other, in words. */
export function summarised(of: readonly Part<Said>[]): string {
  const { gone, fresh } = counted(of);
  if (gone + fresh === 0) return "The output stays the same.";
  const words = (count: number): string => `${count} ${count === 1 ? "word" : "words"}`;
  if (fresh === 0) return `${words(gone)} gone.`;
  return gone === 0 ? `${words(fresh)} new.` : `${words(gone)} gone, ${fresh} new.`;
}

/** The sheet of what an outcome looked at; nothing where that is not known. */
export function looked(outcome: Outcome): Sheet | null {
  const { trace } = outcome;
  if (!trace?.weights || trace.weights.rows === 0 || trace.weights.columns === 0) return null;
  const rows = trace.target.length > 0 ? trace.target.map(({ text }) => text) : [trace.text];
  const texts = trace.source.length === trace.weights.columns ? places(trace.source, { hideEnd: false, words: false }) : [];
  return {
    rows: Array.from({ length: trace.weights.rows }, (_, place) => rows[place] ?? ""),
    columns: Array.from({ length: trace.weights.columns }, (_, place) => texts[place]?.text ?? ""),
    matrix: trace.weights,
    scale: "share",
    limit: Math.max(...trace.weights.values.slice(0, 1e6), 1e-6),
  };
}

export function sides(): Sides {
  let told = "";
  const side = (name: string) => {
    const output = element("p", { class: "compared", with: { dir: "auto", tabIndex: 0 } });
    const figures = element("p", { class: "number" });
    const shares = element("div", { class: "bars" });
    const cell = element("p", { class: "number", with: { "aria-live": "polite" } });
    let sheet: Sheet | null = null;
    const map = heatmap(`What was looked at ${name}; arrow keys move over the weights`, (next) => {
      map.cursor(next);
      cell.textContent = next && sheet ? `${sheet.rows[next.row] ?? ""} → ${sheet.columns[next.column] || `place ${next.column + 1}`}: ${weight(at(sheet.matrix, next.row, next.column))}` : "";
    });
    const attention = element("div", { class: "whatif-map" }, element("h3", { class: "side" }, "What it looked at"), map.whole, cell);
    const whole = element("section", { class: "whatif-side", with: { "aria-label": name === "before" ? "Before" : "After" } },
      element("h2", {}, name === "before" ? "Before" : "After"), output, figures, shares, attention);
    return {
      whole, output, figures, shares, map,
      look(next: Sheet | null, ground: Ground) {
        sheet = next;
        attention.hidden = next === null;
        if (next) map.show(next, ground);
      },
    };
  };
  const [left, right] = [side("before"), side("after")];
  const line = element("p", { class: "whatif-summary" });
  const still = element("p", { class: "quiet" });
  const whole = element("div", {}, line, still, element("div", { class: "whatif-sides" }, left.whole, right.whole));

  function word(kind: "del" | "ins" | "bdi", said: Said): HTMLElement {
    const title = said.log === null ? undefined : `probability ${percent(Math.exp(said.log))}`;
    return element(kind, { with: { title } }, said.text);
  }

  /** A space stands between words, so that lines can break there. */
  function spaced(words: readonly HTMLElement[]): (HTMLElement | string)[] {
    return words.length === 0 ? ["(nothing)"] : words.flatMap((one, place) => (place === 0 ? [one] : [" ", one]));
  }

  function figures(of: Outcome, other: Outcome | null): string {
    if (of.log === null) return "";
    const by = other?.log === null || other === null ? "" : ` (${of.log >= other.log ? "+" : ""}${signed(of.log - other.log, 2)})`;
    return `log p ${signed(of.log, 2)}${by}, ${signed(of.log / Math.max(1, of.trace?.target.length ?? of.said.length + 1), 2)} for each token`;
  }

  function bars(shares: Outcome["shares"], beside: Outcome["shares"] | null): HTMLElement | null {
    if (shares.length === 0) return null;
    const was = new Map(beside ?? []);
    return element("ol", {}, ...shares.slice(0, 10).map(([label, share]) => {
      const by = was.has(label) ? ` (${share >= (was.get(label) ?? 0) ? "+" : ""}${signed((share - (was.get(label) ?? 0)) * 100, 1)})` : "";
      return element("li", {},
        element("bdi", { class: "name" }, label),
        element("span", { class: "track", with: { "aria-hidden": "true" } },
          element("span", { class: "fill", style: { width: `${Math.max(0.4, share * 100)}%` } })),
        element("span", { class: "number" }, percent(share), by ? element("small", {}, by) : null));
    }));
  }

  return {
    whole,
    summary: () => told,
    show(before, after, old, ground) {
      const found = after ? parts(before, after) : null;
      told = found ? summarised(found) : "";
      line.textContent = told || "Nothing is changed yet.";
      still.textContent = old === null || before.log === null ? "" :
        `The output of before has log p ${signed(old, 2)} now; it had ${signed(before.log, 2)}.`;
      fill(left.output, ...spaced(found
        ? found.flatMap((part) => (part.kind === "new" ? [] : [word(part.kind === "gone" ? "del" : "bdi", part.before)]))
        : before.said.map((said) => word("bdi", said))));
      left.figures.textContent = figures(before, null);
      fill(left.shares, bars(before.shares, null));
      left.look(looked(before), ground);
      if (after && found) {
        fill(right.output, ...spaced(found.flatMap((part) => (part.kind === "gone" ? [] : [word(part.kind === "new" ? "ins" : "bdi", part.after)]))));
      } else fill(right.output, element("span", { class: "quiet" }, "Change something above, and what the model makes of it stands here."));
      right.figures.textContent = after ? figures(after, before) : "";
      fill(right.shares, after ? bars(after.shares, before.shares) : null);
      right.look(after ? looked(after) : null, ground);
    },
    close() {
      left.map.close();
      right.map.close();
    },
  };
}
