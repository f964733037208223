// Write: what the model makes of the source, as it is typed, word by word as it is decoded.

import { option } from "../address.js";
import { Latest, writes, writesOfSource, type Answer, type ModelInfo, type Output, type PredictRequest } from "../api.js";
import { element, fill, numberField, show, toggle } from "../dom.js";
import { answerPicture } from "./write-picture.js";
import { bars, labelled, nBest, outputTokens, spoken } from "./write-parts.js";
import { empty, invitation, trouble } from "../trouble.js";
import type { Context, Mounted, View } from "./view.js";

/** How long the keyboard rests before the model is asked. */
const REST = 180;

export const write: View = {
  id: "write",
  title: "Write",
  reads: true,
  suits: (model) => model !== null && model.task !== "bidirectional-language-model",
  mount,
};

/** The settings that a request is made of, as they stand in the address. */
const SEARCH = ["beam", "outputs", "longest"] as const;
const DRAWS = ["temperature", "top-k", "top-p", "seed"] as const;

/** A request for what the controls say. What the service does not take for a task is not sent. */
export function wanted(context: Context): PredictRequest | null {
  const { model, state } = context;
  const asked = context.asked();
  if (!asked || !model) return null;
  if (!writes(model)) return asked;
  const number = (key: string): number | undefined => {
    const told = option(state, key, "");
    return told !== "" && Number.isFinite(Number(told)) ? Number(told) : undefined;
  };
  const [beam, outputs, longest] = SEARCH.map(number);
  const draws = canDraw(model) && option(state, "draw", "") === "1";
  const [temperature, topK, topP, seed] = DRAWS.map(number);
  const several = outputs !== undefined && outputs > 1 && model.task !== "transcribe" ? outputs : undefined;
  // A list needs a beam of as many.
  const width = beam ?? (several !== undefined && several > model.beam ? several : undefined);
  return {
    ...asked,
    ...(several !== undefined && { n_best: several }),
    ...(longest !== undefined && { max_length: longest }),
    ...(!draws && width !== undefined && { beam: width }),
    ...(draws && {
      sample: {
        ...(temperature !== undefined && { temperature }),
        ...(topK !== undefined && { top_k: topK }),
        ...(topP !== undefined && { top_p: topP }),
        ...(seed !== undefined && { seed }),
      },
    }),
  };
}

function canDraw(model: ModelInfo): boolean {
  return model.task === "language-model" || model.task === "translate" || model.task === "caption";
}

function mount(container: HTMLElement, first: Context): Mounted {
  let context = first;
  let answer: Answer | null = null;
  let asked = "";
  const latest = new Latest();
  const set = (key: string) => (value: string): void => context.change({ options: { [key]: value || null } });

  const fields = {
    beam: numberField("Beam", { min: 1, max: 64, step: 1 }, set("beam")),
    outputs: numberField("Outputs", { min: 1, max: 64, step: 1, placeholder: "1" }, set("outputs")),
    longest: numberField("At most tokens", { min: 1, step: 1 }, set("longest")),
    temperature: numberField("Temperature", { min: 0.001, step: "any", placeholder: "1" }, set("temperature")),
    "top-k": numberField("Top k", { min: 1, step: 1, placeholder: "all" }, set("top-k")),
    "top-p": numberField("Top p", { min: 0, max: 1, step: "any", placeholder: "1" }, set("top-p")),
    seed: numberField("Seed", { min: 0, step: 1, placeholder: "1" }, set("seed")),
  };
  const draw = toggle("draw words by chance", (on) => context.change({ options: { draw: on ? "1" : null } }));
  const controls = element("div", { class: "controls", with: { role: "group", "aria-label": "How it is written" } },
    fields.beam.whole, fields.outputs.whole, fields.longest.whole, draw.whole,
    ...DRAWS.map((key) => fields[key].whole));
  // Screen readers hear the whole answer once it is there, not every word of it.
  const output = element("div", { class: "output", with: { dir: "auto", "aria-busy": "false" } });
  const details = element("div", { class: "details" });
  fill(container, controls, output, details);

  function failed(error: unknown): void {
    answer = null;
    output.setAttribute("aria-busy", "false");
    output.classList.remove("waiting");
    fill(output);
    fill(details, trouble(error, () => {
      asked = "";
      ask();
    }));
    context.exportable();
  }

  function written(text: string): void {
    output.classList.remove("waiting");
    fill(output, text, element("span", { class: "caret", with: { "aria-hidden": "true" } }));
  }

  function done(found: Answer): void {
    answer = found;
    output.setAttribute("aria-busy", "false");
    output.classList.remove("waiting");
    const best: Partial<Output> = found.n_best?.[0] ?? found;
    const said = found.label ?? best.text ?? "";
    // What was given is quieter than what was written behind it.
    const given = found.prompt !== undefined && said.startsWith(found.prompt) ? found.prompt : "";
    fill(output, given ? element("span", { class: "quiet" }, given) : null, said.slice(given.length));
    output.hidden = found.labels !== undefined;
    fill(details,
      found.probabilities ? bars("How probable each label is", Object.entries(found.probabilities)) : null,
      found.labels ? labelled(found) : null,
      ...(found.gaps ?? []).map((gap, place) =>
        bars(`Gap ${place + 1}`, gap.map(({ token, probability }) => [token, probability]))),
      found.pieces ? spoken(found) : null,
      best.tokens && best.log_probabilities ? outputTokens(best as Output) : null,
      found.n_best && found.n_best.length > 1 ? nBest(found.n_best, context.state.options.has("draw")) : null);
    context.announce(said || (found.labels ?? []).join(" "));
    context.exportable();
  }

  function ask(): void {
    const request = wanted(context);
    const told = JSON.stringify([request, context.model?.load]);
    if (told === asked) return;
    asked = told;
    if (!request) {
      latest.stop();
      answer = null;
      output.hidden = false;
      output.setAttribute("aria-busy", "false");
      fill(output);
      fill(details, empty(invitation(context.model?.reads ?? "texts")));
      context.exportable();
      return;
    }
    output.hidden = context.model?.task === "label";
    output.setAttribute("aria-busy", "true");
    output.classList.add("waiting");
    const streams = context.model !== null && writes(context.model) && context.model.task !== "transcribe" &&
      (request.n_best ?? 1) === 1;
    void latest.run(async (signal) => {
      if (streams) {
        return await context.service.stream(request, (text) => { if (!signal.aborted) written(text); }, signal);
      }
      const found = (await context.service.predict(request, signal)).answers[0];
      if (!found) throw new Error("the service answered nothing");
      return found;
    }, done, failed, REST);
  }

  return {
    update(next) {
      context = next;
      const { model, state } = context;
      controls.hidden = !model || !writes(model);
      if (model) {
        const drawing = canDraw(model) && option(state, "draw", "") === "1";
        fields.beam.control.placeholder = String(model.beam);
        fields.longest.control.placeholder = String(model.max_length);
        fields.beam.whole.hidden = drawing;
        fields.outputs.whole.hidden = model.task === "transcribe";
        draw.whole.hidden = !canDraw(model);
        draw.control.checked = drawing;
        for (const key of DRAWS) fields[key].whole.hidden = !drawing;
        for (const [key, field] of Object.entries(fields)) show(field.control, option(state, key, ""));
        output.lang = model.languages?.target ?? "";
        output.classList.toggle("wide", writesOfSource(model));
      }
      ask();
    },
    exported: () => answer && {
      name: `${context.model?.name ?? "model"}-output`,
      picture: answerPicture(answer, context.ground),
      data: { source: context.state.text || undefined, model: context.model?.name, answer },
    },
    unmount: () => latest.stop(),
  };
}
