// Attention: what the model looked at, word by word, whatever it reads.

import { option, oneOf, whole } from "../address.js";
import type { AttentionKind, ModelInfo, Trace } from "../api.js";
import { element, fill, freshId, select, toggle } from "../dom.js";
import { hasEnd, hasPieces } from "../tokens.js";
import { empty } from "../trouble.js";
import { band } from "./band.js";
import { readout } from "./readout.js";
import { regions } from "./regions.js";
import { ribbons, type Ribbons } from "./ribbons.js";
import { kinds, MANY, needsHeads, scene, type Measure, type Scene, type Wanted } from "./scene.js";
import { same, type Light, type Stage } from "./stage.js";
import { Tracing } from "./tracing.js";
import type { Context, Mounted, View } from "./view.js";

const THRESHOLD = 0.05;

export const attention: View = {
  id: "attention",
  title: "Attention",
  reads: true,
  suits: (model) => model !== null && kinds(model).length > 0,
  mount,
};

const KINDS: Record<AttentionKind, string> = {
  cross: "from output to source",
  pooling: "from label to source",
  encoder: "inside the source",
  decoder: "inside the output",
};

const MEASURES: Record<Measure, string> = {
  attention: "attention",
  gradient: "gradient × input",
  erasure: "erasure",
};

/** What can be shown of a model beside its attention. */
function measures(model: ModelInfo): readonly [Measure, ...Measure[]] {
  const explained = model.task === "translate" || model.reads === "images";
  return explained ? ["attention", "gradient", "erasure"] : ["attention"];
}

/** What the address says is to be seen. */
function wantedOf(context: Context, model: ModelInfo): Wanted {
  const [first = "cross", ...others] = kinds(model);
  const measure = oneOf(context.state, "show", measures(model));
  return {
    kind: measure === "attention" ? oneOf(context.state, "kind", [first, ...others]) : first,
    measure,
    pick: model.reads === "texts" ? option(context.state, "head", "mean") : "mean",
    hideEnd: option(context.state, "end", "") === "hide",
    words: option(context.state, "words", "") === "merge",
  };
}

/** The search that writes what is looked at: as the view that writes has it. */
export function searchOf(context: Context): { beam?: number; max_length?: number } {
  const beam = whole(context.state, "beam", 1, 1000);
  const longest = whole(context.state, "longest", 1, 100_000);
  return { ...(beam !== undefined && { beam }), ...(longest !== undefined && { max_length: longest }) };
}

function lightOf(told: string | undefined): Light | null {
  const found = /^([sw])(\d{1,5})$/.exec(told ?? "");
  return found ? { side: found[1] === "w" ? "row" : "column", index: Number(found[2]) - 1 } : null;
}

function mount(container: HTMLElement, first: Context): Mounted {
  let context = first;
  let trace: Trace | null = null;
  let shown: Scene | null = null;
  let stage: Stage | null = null;
  let staged = "";
  let pointed: Light | null = null;
  const set = (key: string, otherwise: string) => (value: string): void =>
    context.change({ options: { [key]: value === otherwise ? null : value } });

  const kind = select("Where", set("kind", ""));
  const measure = select("Show", set("show", "attention"));
  const head = select("Heads", set("head", "mean"));
  const end = toggle("hide the end", (on) => context.change({ options: { end: on ? "hide" : null, pin: null } }));
  const pieces = toggle("whole words", (on) => context.change({ options: { words: on ? "merge" : null, pin: null } }));
  const id = freshId("threshold");
  const slider = element("input", {
    id,
    with: { type: "range", min: 0, max: 0.5, step: 0.01 },
    on: { input: () => context.change({ options: { least: Number(slider.value) === THRESHOLD ? null : slider.value } }) },
  });
  const told = element("output", { class: "number", with: { for: id } });
  const threshold = element("span", { class: "field" }, element("label", { with: { for: id } }, "Ribbons from"), slider, told);
  const controls = element("div", { class: "controls", with: { role: "group", "aria-label": "What is shown" } },
    measure.whole, kind.whole, head.whole, end.whole, pieces.whole, threshold);
  const place = element("div", { class: "stage" });
  const words = readout();
  fill(container, controls, place, words.whole);

  const events = {
    point(light: Light | null) {
      if (same(light, pointed)) return;
      pointed = light;
      relight();
    },
    pin(light: Light) {
      const now = lightOf(context.state.options.get("pin"));
      const told_ = `${light.side === "row" ? "w" : "s"}${light.index + 1}`;
      context.change({ options: { pin: same(now, light) ? null : told_ } });
    },
  };

  function pinned(): Light | null {
    const light = lightOf(context.state.options.get("pin"));
    if (!light || !shown) return null;
    return light.index < (light.side === "row" ? shown.rows : shown.columns).length && light.index >= 0 ? light : null;
  }

  function relight(): void {
    if (!shown || !stage) return;
    const light = pointed ?? pinned();
    stage.light(light, pinned());
    const said = words.show(shown, wantedMeasure(), light);
    if (said) context.announce(said);
  }

  function wantedMeasure(): Measure {
    return context.model ? oneOf(context.state, "show", measures(context.model)) : "attention";
  }

  function close(): void {
    stage?.close();
    stage = null;
    staged = "";
  }

  function say(what: HTMLElement): void {
    close();
    shown = null;
    trace = null;
    words.whole.hidden = true;
    place.classList.remove("waiting");
    fill(place, what);
    context.exportable();
  }

  /** Puts the trace on the stage that suits it. */
  function play(): void {
    const { model, source } = context;
    if (!trace || !model || !source) return;
    const wanted = wantedOf(context, model);
    const made = scene(trace, model, wanted);
    if (!made) {
      say(empty("This model has not looked at anything here."));
      return;
    }
    shown = made;
    // Another model may divide the same file otherwise.
    const needed = source.kind === "text" ? "text" :
      JSON.stringify([source.kind, source.file.name, source.file.bytes.length, trace.grid ?? trace.timeline]);
    if (!stage || staged !== needed) {
      close();
      staged = needed;
      if (source.kind === "image" && trace.grid) stage = regions(source.file, trace.grid, events);
      else if (source.kind === "sound" && trace.timeline) stage = band(source.file, trace.timeline, events);
      else stage = ribbons(events);
      fill(place, stage.whole);
      if (stage.aside) stage.aside.append(words.whole);
      else place.after(words.whole);
    }
    place.classList.remove("waiting");
    words.whole.hidden = false;
    if (pointed && pointed.index >= (pointed.side === "row" ? made.rows : made.columns).length) pointed = null;
    if ("threshold" in stage) (stage as Ribbons).threshold(Number(slider.value));
    stage.show(made, context.ground);
    relight();
    context.exportable();
  }

  function offer(model: ModelInfo, wanted: Wanted): void {
    const all = measures(model);
    measure.whole.hidden = all.length < 2;
    measure.set(all.map((value) => ({ value, text: MEASURES[value] })), wanted.measure);
    const found = kinds(model);
    kind.whole.hidden = found.length < 2 || wanted.measure !== "attention";
    kind.set(found.map((value) => ({ value, text: KINDS[value] })), wanted.kind);
    const count = model.heads?.find(({ attention: one }) => one === wanted.kind);
    const heads = trace?.attentions.find((one) => one.kind === wanted.kind);
    const layers = count?.layers ?? heads?.layers.length ?? 1;
    const each = count?.heads ?? heads?.layers[0]?.length ?? 1;
    const single = Array.from({ length: layers * each }, (_, place_) => {
      const [layer, one] = [Math.floor(place_ / each) + 1, (place_ % each) + 1];
      return { value: `${layer}.${one}`, text: `layer ${layer}, head ${one}` };
    });
    head.whole.hidden = wanted.measure !== "attention" || model.reads !== "texts" || layers * each < 2;
    head.set([{ value: "mean", text: "mean of all" }, { value: "max", text: "maximum of all" }, ...single], wanted.pick);
    const tokens = trace ? [...trace.source, ...trace.target] : [];
    end.whole.hidden = trace !== null && !hasEnd(trace.source) && !hasEnd(trace.target);
    end.control.checked = wanted.hideEnd;
    pieces.whole.hidden = !hasPieces(tokens) && !wanted.words;
    pieces.control.checked = wanted.words;
    threshold.hidden = model.reads !== "texts";
    const least = Number(option(context.state, "least", String(THRESHOLD)));
    slider.value = String(Number.isFinite(least) ? least : THRESHOLD);
    const share = wanted.measure === "attention" && (trace?.source.length ?? 0) <= MANY;
    told.textContent = share ? Number(slider.value).toFixed(2) : `${Math.round(Number(slider.value) * 100)} % of the strongest`;
  }

  const tracing = new Tracing({
    place,
    say,
    show(found) {
      trace = found;
      const { model } = context;
      if (model) offer(model, wantedOf(context, model));
      play();
    },
    again() {
      if (trace) play();
    },
  });

  function ask(): void {
    const { model } = context;
    const bare = context.asked();
    const wanted = model && wantedOf(context, model);
    tracing.ask(context, model && bare && wanted && {
      ...bare,
      ...(model.task === "translate" || model.task === "caption" || model.task === "transcribe" ? searchOf(context) : {}),
      ...(needsHeads(model, wanted) && { heads: true, attention: wanted.kind }),
      ...(wanted.measure !== "attention" && { attributions: true }),
    }, bare);
  }

  return {
    update(next) {
      context = next;
      if (next.model) offer(next.model, wantedOf(next, next.model));
      controls.hidden = next.model === null;
      ask();
    },
    exported() {
      if (!shown || !stage) return null;
      const { rows, columns, matrix, agreement } = shown;
      return {
        name: `${context.model?.name ?? "model"}-${wantedMeasure()}`,
        picture: stage.picture(),
        data: {
          model: context.model?.name,
          text: trace?.text,
          show: wantedMeasure(),
          rows: rows.map(({ text }) => text),
          columns: columns.map(({ text }) => text),
          values: rows.map((_, index) => matrix.values.slice(index * matrix.columns, (index + 1) * matrix.columns)),
          agreement,
        },
      };
    },
    unmount() {
      tracing.stop();
      close();
    },
  };
}
