// Step by step: the search as it was made, what it kept and what it let go of. A click on an alternative forces it, and
// the model decodes on from there.

import { option, whole } from "../address.js";
import { writesOfSource, type ModelInfo, type Trace, type TraceRequest } from "../api.js";
import { button, element, fill, freshId, numberField, show, toggle } from "../dom.js";
import { signed } from "../numbers.js";
import { empty } from "../trouble.js";
import { searchOf } from "./attention.js";
import { chosenSteps, force, formatForced, parseForced, prefixOf, release, type Forced } from "./steps-forced.js";
import { strip, type Step } from "./steps-strip.js";
import { stepTable } from "./steps-table.js";
import { joined } from "./steps-words.js";
import { treeView } from "./tree.js";
import { grown, type Node, type Tree } from "./tree-nodes.js";
import { Tracing } from "./tracing.js";
import type { Context, Mounted, View } from "./view.js";

const BESIDE = 5;
/** What is offered where the model has a beam of 1. */
const WIDER = 4;
/** Outputs whose places in the tree are marked. */
const OUTPUTS = 5;

export const steps: View = {
  id: "steps",
  title: "Step by step",
  reads: true,
  suits: (model) => model !== null && writesOfSource(model),
  mount,
};

/** What is asked of the service: the search, from the beginning that was forced on. */
function wanted(context: Context, model: ModelInfo): TraceRequest | null {
  const bare = context.asked();
  if (!bare) return null;
  const search = searchOf(context);
  const forced = prefixOf(parseForced(option(context.state, "forced", "")));
  const prefix = option(context.state, "prefix", "");
  return {
    ...bare,
    ...search,
    ...(forced.length > 0 ? { prefix_tokens: forced } : prefix.trim() !== "" && { prefix }),
    beams: { n_best: Math.min(OUTPUTS, search.beam ?? model.beam), beside: whole(context.state, "beside", 0, 100) ?? BESIDE },
  };
}

function mount(container: HTMLElement, first: Context): Mounted {
  let context = first;
  let trace: Trace | null = null;
  let tree: Tree | null = null;
  const set = (key: string) => (value: string): void => context.change({ options: { [key]: value || null } });

  const beam = numberField("Beam", { min: 1, max: 64, step: 1 }, set("beam"));
  const beside = numberField("Shown beside it", { min: 0, max: 100, step: 1, placeholder: String(BESIDE) }, set("beside"));
  const prefixId = freshId("prefix");
  const prefix = element("input", {
    id: prefixId,
    with: { type: "text", dir: "auto", autocomplete: "off", spellcheck: "false", size: 18 },
    on: { input: () => context.change({ options: { prefix: prefix.value || null, forced: null } }) },
  });
  const hide = toggle("hide what was pruned", (on) => context.change({ options: { pruned: on ? "hide" : null } }));
  const controls = element("div", { class: "controls", with: { role: "group", "aria-label": "The search" } },
    beam.whole, beside.whole,
    element("span", { class: "field" }, element("label", { with: { for: prefixId } }, "Begins with"), prefix));
  const hint = element("p", { class: "notice" }, "The beam is 1: greedy search, which follows one hypothesis. ",
    button(`Follow ${WIDER}`, () => context.change({ options: { beam: String(WIDER) } }, "push"), { class: "plain" }));
  const chips = element("ul", { class: "changes", with: { "aria-label": "Forced choices" } });
  const result = element("p", { class: "result", with: { dir: "auto", tabIndex: 0 } });
  const steps_ = strip((step) => context.change({ options: { step: step === 0 ? null : String(step + 1) } }));
  const heading = element("h2");
  const undecided = element("p", { class: "quiet" });
  const table = stepTable((path) => choose(path));
  const drawing = treeView((node) => context.change({ options: { step: node.step === 0 ? null : String(node.step + 1) } }));
  const body = element("div", { class: "steps" },
    element("section", { class: "steps-now", with: { "aria-label": "One step" } }, heading, undecided, table.whole),
    element("section", { class: "steps-tree" },
      element("div", { class: "steps-head" }, element("h2", {}, "The whole search"), hide.whole), legend(), drawing.whole));
  const place = element("div", { class: "stage" });
  fill(container, controls, hint, chips, place);

  function say(what: HTMLElement): void {
    trace = null;
    tree = null;
    place.classList.remove("waiting");
    fill(place, what);
    context.exportable();
  }

  /** Forces the last of a path. Services that do not number tokens are told a text. */
  function choose(path: readonly Node[]): void {
    const ids = path.map(({ id }) => id);
    const known = ids.every((id): id is number => id !== undefined);
    const step = String(path.length + 1);
    const forced = known ? formatForced(force(parseForced(option(context.state, "forced", "")), ids)) : null;
    context.change({
      options: { forced, prefix: known ? null : joined(path.map(({ token }) => token)), step },
    }, "push");
    context.announce(`Forced ${path[path.length - 1]?.token ?? ""}`);
    steps_.focus();
  }

  function letGo(forced: Forced): void {
    context.change({ options: { forced: formatForced(forced) || null, step: null } }, "push");
    steps_.focus();
  }

  function showForced(): void {
    const forced = parseForced(option(context.state, "forced", ""));
    const at = chosenSteps(forced);
    // What the tokens are called is known once the service has answered.
    const name = (step: number): string => trace?.beams?.steps[step]?.find(({ fate }) => fate === "given")?.token ??
      trace?.target[step]?.text ?? `number ${prefixOf(forced)[step] ?? ""}`;
    const items = at.map((step, choice) => {
      const one = button("", () => letGo(release(forced, choice)), { class: "change", with: { "aria-label": `Let go of ${name(step)} at step ${step + 1}` } });
      one.append(`step ${step + 1}: `, element("bdi", {}, name(step)), element("span", { with: { "aria-hidden": "true" } }, " ×"));
      return element("li", {}, one);
    });
    const all = at.length > 1 ? [element("li", {}, button("Let go of all", () => letGo([]), { class: "plain" }))] : [];
    fill(chips, ...items, ...all);
    chips.hidden = items.length === 0;
  }

  function stepNow(): number {
    const count = trace?.beams?.steps.length ?? 1;
    return Math.min(count, whole(context.state, "step", 1, 100_000) ?? 1) - 1;
  }

  function play(): void {
    const beams = trace?.beams;
    if (!trace || !beams || !tree) return;
    if (beams.steps.length === 0) {
      say(empty("The search has written nothing."));
      return;
    }
    const now = stepNow();
    const forced = new Set(chosenSteps(parseForced(option(context.state, "forced", ""))));
    place.classList.remove("waiting");
    if (body.parentElement !== place) fill(place, result, steps_.whole, body);
    const best = beams.best[0];
    fill(result, element("bdi", {}, best?.text || trace.text || "(nothing)"), " ",
      element("span", { class: "number" }, best ? `score ${signed(best.normalised_score, 2)}, log p ${signed(best.score, 2)}` : ""));
    steps_.show(beams.steps.map((_, step): Step => {
      const node = tree?.nodes.find((one) => one.step === step && one.rank === 0);
      return { token: node?.token ?? null, entropy: node?.entropy ?? trace?.entropies?.[step], forced: forced.has(step) };
    }), now);
    heading.textContent = `Step ${now + 1}`;
    undecided.textContent = doubt(tree, trace, now);
    table.show(tree, now, endOf(trace)?.text ?? null);
    hide.control.checked = option(context.state, "pruned", "") === "hide";
    drawing.show(tree, !hide.control.checked, context.ground);
    drawing.step(now);
    context.exportable();
  }

  const tracing = new Tracing({
    place,
    say,
    show(found) {
      trace = found;
      tree = found.beams ? grown(found.beams, endOf(found)) : null;
      showForced();
      play();
      context.announce(found.text);
    },
    again: play,
  });

  function ask(): void {
    const { model } = context;
    tracing.ask(context, model && wanted(context, model), [context.asked(), option(context.state, "prefix", "")]);
  }

  return {
    update(next) {
      context = next;
      const { model, state } = next;
      controls.hidden = model === null;
      beam.control.placeholder = String(model?.beam ?? 1);
      show(beam.control, option(state, "beam", ""));
      show(beside.control, option(state, "beside", ""));
      show(prefix, option(state, "prefix", ""));
      hint.hidden = model === null || next.source === null || (searchOf(next).beam ?? model.beam) > 1;
      showForced();
      ask();
    },
    exported() {
      if (!trace?.beams || !tree) return null;
      return {
        name: `${context.model?.name ?? "model"}-search`,
        picture: drawing.picture(trace.beams.best[0]?.text || trace.text || "The search"),
        data: {
          model: context.model?.name,
          ...(context.source?.kind === "text" && { source: context.source.text }),
          text: trace.text,
          forced: prefixOf(parseForced(option(context.state, "forced", ""))),
          beams: trace.beams,
        },
      };
    },
    unmount() {
      tracing.stop();
      drawing.close();
    },
  };
}

/** The end of outputs, as the model calls it. */
function endOf(trace: Trace): Trace["target"][number] | null {
  const last = trace.target[trace.target.length - 1];
  return last && last.word === null ? last : null;
}

/** How undecided the model was at a step of the best output. */
function doubt(tree: Tree, trace: Trace, step: number): string {
  const node = tree.nodes.find((one) => one.step === step && one.rank === 0);
  const entropy = node?.entropy ?? (node ? trace.entropies?.[step] : undefined);
  if (!node) return "The best output has ended before; these are other hypotheses.";
  if (entropy === undefined) return "";
  return `Before the next token of the output the entropy is ${signed(entropy, 2)} nats: as if ${signed(Math.exp(entropy), 1)} tokens were equally probable.`;
}

/** What frames and lines mean. */
function legend(): HTMLElement {
  return element("ul", { class: "legend" },
    ...[["best", "the output"], ["other", "other outputs"], ["followed", "followed"], ["left", "let go of"], ["greedy", "greedy search"]].map(([name, text]) =>
      element("li", {}, element("span", { class: `key ${name}`, with: { "aria-hidden": "true" } }), text ?? "")));
}
