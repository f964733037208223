// A grid of layers and heads for each attention; a press masks a head, so that it gives nought.

import type { AttentionKind, HeadCount, MaskedHead } from "../api.js";
import { button, element, fill, rove } from "../dom.js";
import { isMasked, type Changes } from "./whatif-changes.js";

export interface HeadGrid {
  readonly whole: HTMLElement;
  show(heads: readonly HeadCount[], changes: Changes): void;
}

export const NAMES: Record<AttentionKind, string> = {
  cross: "output to source",
  encoder: "inside the source",
  decoder: "inside the output",
  pooling: "label to source",
};

export function headGrid(mask: (heads: readonly MaskedHead[], on: boolean) => void): HeadGrid {
  let known = "";
  let now: Changes | null = null;
  const grids = element("div", { class: "head-grids" });
  const whole = element("section", { class: "whatif-heads" },
    element("h2", {}, "Heads"), element("p", { class: "quiet" }, "Press a head, and it gives nought wherever it looks; press a layer for all of its heads."), grids);

  function grid(count: HeadCount): HTMLElement {
    const rows = Array.from({ length: count.layers }, (_, layer) => {
      const all = Array.from({ length: count.heads }, (_unused, head): MaskedHead => ({ attention: count.attention, layer: layer + 1, head: head + 1 }));
      const whole_ = button(`layer ${layer + 1}`, () => mask(all, !all.every((one) => now && isMasked(now, one))), { class: "plain" });
      const made = all.map((head) => button(String(head.head), () => mask([head], !(now && isMasked(now, head))), {
        class: "head",
        with: {
          "data-head": `${head.attention}.${head.layer}.${head.head}`,
          "aria-label": `Mask ${NAMES[head.attention]}, layer ${head.layer}, head ${head.head}`,
        },
      }));
      return element("div", { class: "head-line" }, whole_, ...made);
    });
    const made = element("div", { class: "head-grid", with: { role: "group", "aria-label": `Heads: ${NAMES[count.attention]}` } },
      element("h3", { class: "side" }, NAMES[count.attention]), ...rows);
    rove(made, () => [...made.querySelectorAll<HTMLElement>("button")], () => false)();
    return made;
  }

  return {
    whole,
    show(heads, changes) {
      now = changes;
      const key = JSON.stringify(heads);
      if (key !== known) {
        known = key;
        fill(grids, ...heads.map(grid));
      }
      whole.hidden = heads.length === 0;
      for (const one of grids.querySelectorAll<HTMLElement>("[data-head]")) {
        const masked = changes.masks.some(({ attention, layer, head }) => one.dataset["head"] === `${attention}.${layer}.${head}`);
        one.setAttribute("aria-pressed", String(masked));
        one.textContent = masked ? `${one.dataset["head"]?.split(".")[2] ?? ""} ×` : one.dataset["head"]?.split(".")[2] ?? "";
      }
    },
  };
}
