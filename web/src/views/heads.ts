// Heads: every head of every layer as a small picture; one of them opens into a large one.

import { option, oneOf } from "../address.js";
import type { AttentionKind, Heads, ModelInfo, Trace } from "../api.js";
import { button, drawn, element, fill, rove, select, toggle } from "../dom.js";
import { placeOf } from "../grid.js";
import { at, entropy, row, type Matrix } from "../matrix.js";
import { signed, weight } from "../numbers.js";
import { sheet, words } from "../picture.js";
import { inks } from "../scale.js";
import { arranged, hasEnd, hasPieces, nameless, places, type Place } from "../tokens.js";
import { empty } from "../trouble.js";
import { sized } from "../wave.js";
import { searchOf } from "./attention.js";
import { asImage, heatmap, pixels, stamp, type Cell } from "./heatmap.js";
import { mean } from "./scene.js";
import { Tracing } from "./tracing.js";
import type { Context, Mounted, View } from "./view.js";

/** Units of a small picture in a file, and on the page at most and at least. */
const SMALL = 132;
const LEAST = 46;
/** From so many places on, every weight is small. */
const MANY = 40;
/** From this width on, the large picture stands beside the small ones. */
const BESIDE = 1000;

export const heads: View = {
  id: "heads",
  title: "Heads",
  reads: true,
  suits: (model) => model !== null && model.reads !== "sounds" && kindsOf(model).length > 0,
  mount,
};

function kindsOf(model: ModelInfo): AttentionKind[] {
  const order: AttentionKind[] = model.reads === "images" ? ["encoder", "cross"] : ["cross", "encoder", "decoder", "pooling"];
  // Of images only the encoder tells its heads.
  return order.filter((kind) => model.attentions.includes(kind) && (model.reads === "texts" || kind === "encoder"));
}

const KINDS: Record<AttentionKind, string> = {
  cross: "cross: output to source",
  encoder: "encoder: inside the source",
  decoder: "decoder: inside the output",
  pooling: "pooling: label to source",
};

/** Heads on axes that can be read. */
interface Laid {
  readonly kind: AttentionKind;
  readonly rows: readonly Place[];
  readonly columns: readonly Place[];
  readonly layers: readonly (readonly Matrix[])[];
  readonly firstLayer: number;
}

function mount(container: HTMLElement, first: Context): Mounted {
  let context = first;
  let trace: Trace | null = null;
  let laid: Laid | null = null;
  let cell: Cell | null = null;

  const kind = select("Where", (value) => context.change({ options: { kind: value, head: null } }));
  const end = toggle("hide the end", (on) => context.change({ options: { end: on ? "hide" : null } }));
  const pieces = toggle("whole words", (on) => context.change({ options: { words: on ? "merge" : null } }));
  const bright = select("Strongest colour", (value) => context.change({ options: { bright: value } }));
  const controls = element("div", { class: "controls", with: { role: "group", "aria-label": "What is shown" } },
    kind.whole, end.whole, pieces.whole, bright.whole);
  const grid = element("div", { class: "multiples", with: { role: "group", "aria-label": "Heads" } });
  const refresh = rove(grid, () => [...grid.querySelectorAll<HTMLElement>("button")], () => false);
  const title = element("h2");
  const told = element("p", { class: "cell-told", with: { "aria-live": "polite" } });
  const facts = element("p", { class: "quiet" });
  const large = heatmap("The weights of this head; arrow keys move over them", (next) => {
    cell = next;
    large.cursor(next);
    tell();
  });
  const opened = element("section", { class: "opened" }, title, facts, told, large.whole);
  const body = element("div", { class: "heads" }, grid, opened);
  const place = element("div", { class: "stage" });
  fill(container, controls, place);
  let wide = 0;
  const watcher = new ResizeObserver(() => {
    if (place.clientWidth === wide) return;
    wide = place.clientWidth;
    if (laid) show();
  });
  watcher.observe(place);

  function say(what: HTMLElement): void {
    laid = null;
    trace = null;
    place.classList.remove("waiting");
    fill(place, what);
    context.exportable();
  }

  function chosen(): readonly [number, number] {
    const found = /^(\d+)\.(\d+)$/.exec(option(context.state, "head", ""));
    const layer = found && laid ? Number(found[1]) - laid.firstLayer : 0;
    const one = found ? Number(found[2]) - 1 : 0;
    return laid?.layers[layer]?.[one] ? [layer, one] : [0, 0];
  }

  function tell(): void {
    if (!laid) return;
    const [layer, one] = chosen();
    const matrix = laid.layers[layer]?.[one];
    if (!matrix || !cell || cell.row >= matrix.rows || cell.column >= matrix.columns) {
      fill(told, element("span", { class: "quiet" }, "Point at a cell, or move over them with the arrow keys."));
      return;
    }
    fill(told,
      element("bdi", { class: "told" }, laid.rows[cell.row]?.text ?? ""), " looks at ",
      element("bdi", { class: "told" }, laid.columns[cell.column]?.text ?? ""), `: ${weight(at(matrix, cell.row, cell.column))}`);
  }

  /** Whether each head has its own scale: with many places every weight is small. */
  function own(): boolean {
    const usual = (laid?.columns.length ?? 0) > MANY ? "own" : "one";
    return option(context.state, "bright", usual) === "own";
  }

  /** The value of the strongest colour of a head. */
  function limit(matrix: Matrix): number {
    return own() ? strong(matrix) : 1;
  }

  function show(): void {
    const { model } = context;
    if (!trace || !model) return;
    const wanted = oneOf(context.state, "kind", [kindsOf(model)[0] ?? "cross", ...kindsOf(model)]);
    const found = trace.attentions.find((one) => one.kind === wanted);
    if (!found || found.layers.flat().every(({ values }) => values.length === 0)) {
      say(empty("This model has no heads of this kind."));
      return;
    }
    laid = lay(found, trace, context);
    bright.set([{ value: "one", text: "a weight of 1" }, { value: "own", text: "the strongest of each head" }], own() ? "own" : "one");
    body.classList.toggle("beside", place.clientWidth >= BESIDE && laid.columns.length <= MANY);
    place.classList.remove("waiting");
    if (body.parentElement !== place) fill(place, body);
    const known = [...grid.querySelectorAll("button")].map(({ id }) => id).join();
    const ids = laid.layers.flatMap((layer, index) => layer.map((_, one) => `head-${found.firstLayer + index}-${one + 1}`));
    if (known !== ids.join()) fill(grid, ...laid.layers.map((layer, index) => line(found.firstLayer + index, layer.length)));
    const [layer, one] = chosen();
    laid.layers.forEach((all, index) => all.forEach((matrix, head) => small(found.firstLayer + index, head + 1, matrix, index === layer && head === one)));
    refresh();
    const matrix = laid.layers[layer]?.[one];
    if (!matrix) return;
    title.textContent = `Layer ${laid.firstLayer + layer}, head ${one + 1}`;
    facts.textContent = spread(matrix);
    large.show({
      rows: laid.rows.map(({ text }) => text),
      columns: laid.columns.map(({ text }) => text),
      matrix,
      scale: "share",
      limit: limit(matrix),
    }, context.ground);
    large.cursor(cell);
    tell();
    context.exportable();
  }

  /** As large as lets a whole line of heads fit. */
  function side(): number {
    const count = Math.max(1, ...(laid?.layers ?? []).map((all) => all.length));
    const wide = place.clientWidth;
    const room = wide >= BESIDE && (laid?.columns.length ?? 0) <= MANY ? wide * 0.55 - 80 : wide < 500 ? wide : wide - 80;
    return Math.max(LEAST, Math.min(SMALL, Math.floor(room / count) - 24));
  }

  function line(layer: number, count: number): HTMLElement {
    return element("div", { class: "multiples-line" }, element("span", { class: "quiet" }, `Layer ${layer}`),
      ...Array.from({ length: count }, (_, head) => {
        const one = button("", () => context.change({ options: { head: `${layer}.${head + 1}` } }), { id: `head-${layer}-${head + 1}` });
        one.append(element("canvas", { with: { "aria-hidden": "true" } }), element("span", {}, `head ${head + 1}`));
        return one;
      }));
  }

  function small(layer: number, head: number, matrix: Matrix, on: boolean): void {
    const one = grid.querySelector<HTMLElement>(`#head-${layer}-${head}`);
    const canvas = one?.querySelector("canvas");
    if (!one || !canvas) return;
    one.setAttribute("aria-pressed", String(on));
    one.setAttribute("aria-label", `Layer ${layer}, head ${head}: ${spread(matrix)}`);
    const [width, height] = proportions(matrix, side());
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const drawing = sized(canvas, width, height);
    if (drawing) stamp(drawing, pixels(matrix, "share", limit(matrix), context.ground), 0, 0, width, height);
  }

  function offer(model: ModelInfo): void {
    const found = kindsOf(model);
    kind.whole.hidden = found.length < 2;
    kind.set(found.map((value) => ({ value, text: KINDS[value] })), oneOf(context.state, "kind", [found[0] ?? "cross", ...found]));
    const tokens = trace ? [...trace.source, ...trace.target] : [];
    end.whole.hidden = model.reads !== "texts" || (trace !== null && !hasEnd(trace.source) && !hasEnd(trace.target));
    end.control.checked = option(context.state, "end", "") === "hide";
    pieces.whole.hidden = !hasPieces(tokens) && option(context.state, "words", "") !== "merge";
    pieces.control.checked = option(context.state, "words", "") === "merge";
  }

  const tracing = new Tracing({
    place,
    say,
    show(found) {
      trace = found;
      cell = null;
      if (context.model) offer(context.model);
      show();
    },
    again() {
      if (trace) show();
    },
  });

  function ask(): void {
    const { model } = context;
    const bare = context.asked();
    tracing.ask(context, model && bare && {
      ...bare,
      ...(model.task === "translate" || model.task === "caption" ? searchOf(context) : {}),
      heads: true,
      attention: oneOf(context.state, "kind", [kindsOf(model)[0] ?? "cross", ...kindsOf(model)]),
    }, bare);
  }

  return {
    update(next) {
      context = next;
      if (next.model) offer(next.model);
      ask();
    },
    exported() {
      if (!laid || !trace) return null;
      const [layer, one] = chosen();
      const name = `Layer ${laid.firstLayer + layer}, head ${one + 1}`;
      return {
        name: `${context.model?.name ?? "model"}-heads-${laid.kind}`,
        picture: everything(laid, limit, large.picture(name), context),
        data: {
          model: context.model?.name,
          text: trace.text,
          attention: laid.kind,
          first_layer: laid.firstLayer,
          rows: laid.rows.map(({ text }) => text),
          columns: laid.columns.map(({ text }) => text),
          layers: laid.layers.map((all) => all.map((matrix) =>
            Array.from({ length: matrix.rows }, (_, index) => row(matrix, index)))),
        },
      };
    },
    unmount() {
      tracing.stop();
      watcher.disconnect();
      large.close();
    },
  };
}

/** The size of a small picture. */
function proportions(matrix: Matrix, side = SMALL): readonly [number, number] {
  const share = matrix.rows / Math.max(1, matrix.columns);
  return share > 1 ? [Math.max(16, Math.round(side / share)), side] : [side, Math.max(16, Math.round(side * share))];
}

function lay(found: Heads, trace: Trace, context: Context): Laid {
  const shown = { hideEnd: option(context.state, "end", "") === "hide", words: option(context.state, "words", "") === "merge" };
  const size = found.layers[0]?.[0];
  const region = (place: number): string => {
    if (found.classToken && place === 0) return "class";
    const index = found.classToken ? place - 1 : place;
    return trace.grid ? placeOf(trace.grid, index).map((one) => one + 1).join(", ") : String(index + 1);
  };
  const rows = found.queries.length === size?.rows ? places(found.queries, shown) :
    found.kind === "pooling" && size?.rows === 1 ? [{ text: trace.text, tokens: [0] }] : nameless(size?.rows ?? 0, region);
  const columns = found.keys.length === size?.columns ? places(found.keys, shown) : nameless(size?.columns ?? 0, region);
  return {
    kind: found.kind,
    rows,
    columns,
    layers: found.layers.map((all) => all.map((matrix) => arranged(matrix, rows, columns, "share"))),
    firstLayer: found.firstLayer,
  };
}

/** What all but the strongest two in a hundred weights stay below, so that one of them does not outshine the rest. */
function strong(matrix: Matrix): number {
  const sorted = matrix.values.slice().sort();
  const most = sorted[sorted.length - 1] ?? 0;
  return (sorted.length > 2000 ? sorted[Math.floor(sorted.length * 0.98)] || most : most) || 1;
}

/** How far a head spreads its look. */
function spread(matrix: Matrix): string {
  const found = mean(Array.from({ length: matrix.rows }, (_, index) => entropy(row(matrix, index)))) ?? 0;
  return `Each looks at about ${signed(Math.exp(found), 1)} of ${matrix.columns} places (the exponential of its entropy, on average).`;
}

/** All heads, and the one that is open below them. */
function everything(laid: Laid, limit: (matrix: Matrix) => number, opened: SVGSVGElement, context: Context): SVGSVGElement {
  const ink = inks(context.ground);
  const parts: SVGElement[] = [];
  let down = 20;
  let across = 0;
  laid.layers.forEach((all, index) => {
    const high = Math.max(...all.map((matrix) => proportions(matrix)[1]));
    all.forEach((matrix, head) => {
      const [width, height] = proportions(matrix);
      const left = 20 + head * (SMALL + 16);
      parts.push(
        words(left, down + 12, `layer ${laid.firstLayer + index}, head ${head + 1}`, 12, ink.quiet),
        drawn("image", {
          href: asImage(pixels(matrix, "share", limit(matrix), context.ground)), x: left, y: down + 18, width, height,
          preserveAspectRatio: "none", "image-rendering": "pixelated",
        }),
        drawn("rect", { x: left, y: down + 18, width, height, fill: "none", stroke: ink.line }));
      across = Math.max(across, left + SMALL + 20);
    });
    down += high + 40;
  });
  const [width, height] = [Number(opened.getAttribute("width")), Number(opened.getAttribute("height"))];
  opened.setAttribute("x", "0");
  opened.setAttribute("y", String(down));
  return sheet(Math.max(across, width), down + height, context.ground, ...parts, opened);
}
