// What is pointed at, in words and numbers.

import { element, fill } from "../dom.js";
import { ranking } from "../matrix.js";
import { percent as spaced, signed, weight } from "../numbers.js";
import { mean, type Measure, type Scene } from "./scene.js";
import { lit, type Light } from "./stage.js";

const MOST = 5;

/** A percentage that does not break at the end of a line. */
function percent(share: number): string {
  return spaced(share).replaceAll(" ", "\u00a0");
}

const VERBS: Record<Measure, readonly [row: string, column: string]> = {
  attention: ["looked at", "was looked at by"],
  gradient: ["depends, by gradient × input, on", "counts, by gradient × input, for"],
  erasure: ["loses, in nats, without", "is missed, in nats, by"],
};

export interface Readout {
  readonly whole: HTMLElement;
  show(scene: Scene, measure: Measure, light: Light | null): string;
}

export function readout(): Readout {
  const line = element("div", { class: "readout-line" });
  const more = element("div", { class: "readout-more" });
  const whole = element("div", { class: "readout" }, line, more);
  return {
    whole,
    show(scene, measure, light) {
      fill(more, ...explained(scene, light));
      more.hidden = scene.agreement === null;
      if (!light) {
        fill(line, element("span", { class: "quiet" }, hint(scene)));
        return "";
      }
      const [own, other] = light.side === "row" ? [scene.rows, scene.columns] : [scene.columns, scene.rows];
      const { values, limit } = lit(scene, light);
      const verb = VERBS[measure][light.side === "row" ? 0 : 1];
      const strongest = ranking(values.map(Math.abs), MOST).filter((place) => values[place] !== 0);
      const logProbability = light.side === "row" ? scene.logProbabilities?.[light.index] : undefined;
      const items = strongest.map((place) => element("li", {},
        element("bdi", {}, other[place]?.text ?? ""),
        element("span", { class: "track", with: { "aria-hidden": "true" } }, element("span", {
          class: scene.scale === "share" ? "fill" : (values[place] ?? 0) < 0 ? "fill against" : "fill for",
          style: { width: `${Math.min(100, (Math.abs(values[place] ?? 0) / limit) * 100)}%` },
        })),
        element("span", { class: "number" }, weight(values[place] ?? 0))));
      const name = own[light.index]?.text ?? "";
      fill(line,
        element("p", {}, element("bdi", { class: "told" }, name),
          logProbability === undefined ? "" : ` (p ${percent(Math.exp(logProbability))})`, ` ${verb}`),
        element("ol", { class: "looked" }, ...items));
      return `${name} ${verb} ${strongest.slice(0, 3).map((place) => `${other[place]?.text ?? ""} ${weight(values[place] ?? 0)}`).join(", ")}`;
    },
  };
}

function hint(scene: Scene): string {
  const what = scene.sides.columns === "What it read" && scene.rows.length === 1 ? "a part of the source" : "a word";
  return `Point at ${what}, or move to it with the keyboard; press it and it stays lit.`;
}

/** How far attention explains the step that is lit, or all of them. */
function explained(scene: Scene, light: Light | null): HTMLElement[] {
  const all = scene.agreement;
  if (!all) return [];
  const tau = (value: number | undefined): string => (value === undefined ? "–" : signed(value, 2));
  const one = light?.side === "row" ? all[light.index] : undefined;
  const figures = element("dl", {},
    element("dt", {}, "τ of attention and gradient × input"),
    element("dd", {}, tau(one ? one.gradient : mean(all.map(({ gradient }) => gradient)))),
    element("dt", {}, "τ of attention and erasure"),
    element("dd", {}, tau(one ? one.erasure : mean(all.map(({ erasure }) => erasure)))));
  const falls = (part: readonly (number | undefined)[]): string => percent(mean(part) ?? NaN);
  const told = one
    ? [`Without `, element("bdi", { class: "told" }, scene.columns[one.attended]?.text ?? ""),
      `, at which it looked most, its probability goes from ${percent(one.probability)} to ${percent(one.without)}`,
      one.otherwise === undefined ? "." : `; without another one, to ${percent(one.otherwise)} on average.`]
    : [`Without what it looked at most, the probability of a token goes from ${falls(all.map(({ probability }) => probability))} to ` +
       `${falls(all.map(({ without }) => without))} on average; without another one, to ${falls(all.map(({ otherwise }) => otherwise))}.`];
  const title = one ? "How far attention explains this step" : "How far attention explains the output";
  return [element("h3", {}, title), figures, element("p", {}, ...told)];
}
