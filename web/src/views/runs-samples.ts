// What runs wrote of some examples at each validation, and where their configurations differ.

import { element, fill, freshId, toggle, type Toggle } from "../dom.js";
import { difference, pieces } from "../difference.js";
import { differing } from "./runs-configuration.js";
import type { Example, Run } from "./runs-curves.js";

export interface Samples {
  readonly whole: HTMLElement;
  show(runs: readonly Run[], wanted: number | null): void;
}

/** The steps at which any of the runs was validated. */
export function validations(runs: readonly Run[]): number[] {
  return [...new Set(runs.flatMap(({ samples }) => samples.map(({ step }) => step)))].sort((one, other) => one - other);
}

/** Samples over time; `choose` is told a step, or nothing for the last one. */
export function samples(choose: (step: number | null) => void): Samples {
  let steps: readonly number[] = [];
  const id = freshId("validation");
  const slider = element("input", {
    id,
    with: { type: "range", min: 0, step: 1 },
    on: { input: () => choose(Number(slider.value) >= steps.length - 1 ? null : steps[Number(slider.value)] ?? null) },
  });
  const told = element("output", { class: "number", with: { for: id } });
  const line = element("div", { class: "steps-slider" }, element("label", { with: { for: id } }, "Validation"), slider, told);
  const list = element("ol", { class: "run-samples" });
  const none = element("p", { class: "quiet" }, "These runs have kept no samples of their validations.");
  const whole = element("section", {}, element("h2", {}, "What was written"), line, list, none);

  return {
    whole,
    show(runs, wanted) {
      steps = validations(runs);
      none.hidden = steps.length > 0;
      line.hidden = steps.length === 0;
      const found = wanted === null ? steps.length - 1 : steps.filter((one) => one <= wanted).length - 1;
      const place = Math.max(0, found);
      slider.max = String(Math.max(0, steps.length - 1));
      slider.value = String(place);
      const step = steps[place] ?? 0;
      told.textContent = `step ${step}`;
      slider.setAttribute("aria-valuetext", `step ${step}`);
      const all = new Map<string, { readonly example: Example; readonly said: { readonly run: string; readonly step: number; readonly output: string }[] }>();
      for (const run of runs) {
        const sampled = run.samples.filter((one) => one.step <= step).pop();
        for (const example of sampled?.examples ?? []) {
          const key = JSON.stringify([example.source, example.reference]);
          if (!all.has(key)) all.set(key, { example, said: [] });
          all.get(key)?.said.push({ run: run.name, step: sampled?.step ?? 0, output: example.output });
        }
      }
      fill(list, ...[...all.values()].map(({ example, said }) => element("li", {},
        element("dl", {},
          ...(example.source === undefined ? [] : pair("source", element("bdi", {}, example.source))),
          ...pair("reference", element("bdi", {}, example.reference)),
          ...said.flatMap(({ run, step: when, output }) => pair(when === step ? run : `${run}, step ${when}`, compared(example.reference, output)))))));
    },
  };
}

function pair(name: string, value: HTMLElement): HTMLElement[] {
  return [element("dt", {}, name), element("dd", { with: { dir: "auto" } }, value)];
}

/** An output beside its reference: what is too much is framed, what is missing struck out. */
function compared(reference: string, output: string): HTMLElement {
  const parts = difference(pieces(reference), pieces(output));
  const same = parts.every(({ kind }) => kind === "same");
  const made = parts.flatMap((part, place): (HTMLElement | string)[] => [
    place === 0 ? "" : " ",
    part.kind === "same" ? part.after : part.kind === "new" ? element("ins", {}, part.after) : element("del", {}, part.before),
  ]);
  return element("span", {}, ...(output.trim() === "" ? ["(nothing) ", ...made] : made),
    same ? element("span", { class: "right" }, " ✓", element("span", { class: "visually-hidden" }, " as the reference")) : null);
}

export interface Configurations {
  readonly whole: HTMLElement;
  show(runs: readonly Run[], texts: boolean): void;
}

export function configurations(wholeTexts: (on: boolean) => void): Configurations {
  const table = element("table", { class: "differing" });
  const told = element("p", { class: "quiet" });
  const texts: Toggle = toggle("whole configurations", wholeTexts);
  const place = element("div", { class: "config-texts" });
  const whole = element("section", {},
    element("div", { class: "steps-head" }, element("h2", {}, "Configuration"), texts.whole),
    told, element("div", { class: "wide", with: { tabindex: 0, role: "region", "aria-label": "Keys that differ" } }, table), place);
  return {
    whole,
    show(runs, on) {
      const found = differing(runs.map(({ configuration }) => configuration));
      told.textContent = runs.length < 2 ? "Choose several runs to see what is different." :
        found.length === 0 ? "They are the same." : "Only keys that differ:";
      (table.parentElement as HTMLElement).hidden = found.length === 0;
      fill(table,
        element("caption", { class: "visually-hidden" }, "Keys that differ"),
        element("thead", {}, element("tr", {}, element("th", { with: { scope: "col" } }, "key"),
          ...runs.map(({ name }) => element("th", { with: { scope: "col" } }, element("bdi", {}, name))))),
        element("tbody", {}, ...found.map(({ key, values }) => element("tr", {}, element("th", { with: { scope: "row" } }, key),
          ...values.map((value) => element("td", {}, value === null ? element("span", { class: "quiet" }, "–") : element("code", {}, value)))))));
      texts.control.checked = on;
      place.hidden = !on;
      fill(place, ...(on ? runs.map(({ name, configuration }) => element("div", {}, element("h3", { class: "side" }, name),
        element("pre", { with: { tabindex: 0, role: "region", "aria-label": `Configuration of ${name}` } }, configuration))) : []));
    },
  };
}
