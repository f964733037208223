// Curves of several runs on two axes. A run has a colour and a dash pattern; validations are marked with dots. The pointer
// and the arrow keys move a line over the chart, at which all runs tell their values.

import { drawn, element, fill } from "../dom.js";
import { round, sheet, shortened, textWidth, words } from "../picture.js";
import { inks, type Ground } from "../scale.js";
import { duration, linear, logarithmic, share, tickName, type Axis } from "./runs-axis.js";
import { nearest, thinned, type Point } from "./runs-curves.js";

/** One line of the chart. */
export interface Line {
  readonly run: string;
  /** The place of the run among those that are shown: its colour and dashes. */
  readonly style: number;
  readonly kind: "train" | "valid" | "other";
  readonly name: string;
  readonly points: readonly Point[];
  /** What it was before it was smoothed. */
  readonly raw: readonly Point[] | null;
}

export interface Chart {
  readonly lines: readonly Line[];
  readonly figure: string;
  readonly by: "step" | "seconds";
  readonly log: boolean;
}

// Okabe and Ito's colours, which differ in every common form of colour blindness, darker on a light ground and brighter on
// a dark one; with eight dash patterns every run has its own.
const COLOURS: Record<Ground, readonly string[]> = {
  light: ["#0060a8", "#b34700", "#00755a", "#a03c82", "#5d5300", "#2f6f9f", "#8a2a0b", "#333333"],
  dark: ["#6cb6f5", "#f0a060", "#3fcf9f", "#e79ac6", "#e8dc5a", "#9fd8f8", "#ff8a66", "#dddddd"],
};
const DASHES = [null, "8 4", "2 3", "10 3 2 3", "5 2", "12 5", "2 6", "10 3 2 3 2 3"] as const;

export function styleOf(place: number, ground: Ground): { readonly colour: string; readonly dashes: string | null } {
  const all = COLOURS[ground];
  return { colour: all[place % all.length] as string, dashes: DASHES[(place + Math.floor(place / all.length)) % DASHES.length] ?? null };
}

/** A piece of a line, for the legend. */
export function sample(place: number, ground: Ground): SVGSVGElement {
  const { colour, dashes } = styleOf(place, ground);
  return drawn("svg", { width: 36, height: 12, viewBox: "0 0 36 12", "aria-hidden": "true" },
    drawn("path", { d: "M1 6H35", stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dashes }));
}

const LEFT = 58;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 42;

interface Frame {
  readonly across: Axis;
  readonly up: Axis;
  readonly width: number;
  readonly height: number;
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

function framed(chart: Chart, width: number, height: number): Frame {
  const all = chart.lines.flatMap(({ points }) => points).filter(({ y }) => Number.isFinite(y) && (!chart.log || y > 0));
  const bounds = (of: (point: Point) => number): readonly [number, number] =>
    all.reduce<readonly [number, number]>(([low, high], point) => [Math.min(low, of(point)), Math.max(high, of(point))], [Infinity, -Infinity]);
  const across = linear(Math.min(0, bounds(({ x }) => x)[0]), bounds(({ x }) => x)[1], Math.max(2, Math.floor((width - LEFT - RIGHT) / 90)));
  const up = (chart.log ? logarithmic : linear)(...bounds(({ y }) => y), Math.max(2, Math.floor((height - TOP - BOTTOM) / 45)));
  return {
    across, up, width, height,
    x: (value) => LEFT + share(across, value) * (width - LEFT - RIGHT),
    y: (value) => height - BOTTOM - share(up, value) * (height - TOP - BOTTOM),
  };
}

function path(points: readonly Point[], frame: Frame, log: boolean): string {
  let pen = "M";
  return thinned(points, Math.max(50, Math.floor(frame.width / 2))).map(({ x, y }) => {
    if (!Number.isFinite(y) || (log && y <= 0)) {
      pen = "M";
      return "";
    }
    const told = `${pen}${round(frame.x(x))} ${round(frame.y(y))}`;
    pen = "L";
    return told;
  }).join("");
}

function chartParts(chart: Chart, frame: Frame, ground: Ground): SVGElement[] {
  const ink = inks(ground);
  const { across, up, width, height } = frame;
  const made: SVGElement[] = [];
  for (const tick of up.ticks) {
    const y = round(frame.y(tick));
    made.push(drawn("path", { d: `M${LEFT} ${y}H${width - RIGHT}`, stroke: ink.line, "stroke-opacity": 0.6 }),
      words(LEFT - 8, y + 4, tickName(tick), 12, ink.quiet, "end"));
  }
  for (const tick of across.ticks) {
    const x = round(frame.x(tick));
    made.push(drawn("path", { d: `M${x} ${height - BOTTOM}v5`, stroke: ink.quiet }),
      words(x, height - BOTTOM + 19, chart.by === "seconds" ? duration(tick) : tickName(tick), 12, ink.quiet, "middle"));
  }
  made.push(drawn("path", { d: `M${LEFT} ${TOP}V${height - BOTTOM}H${width - RIGHT}`, fill: "none", stroke: ink.quiet }),
    words((LEFT + width - RIGHT) / 2, height - 6, chart.by === "seconds" ? "time of training" : "step", 12, ink.quiet, "middle"));
  for (const line of chart.lines) {
    const { colour, dashes } = styleOf(line.style, ground);
    if (line.raw) made.push(drawn("path", { d: path(line.raw, frame, chart.log), fill: "none", stroke: colour, "stroke-opacity": 0.25 }));
    made.push(drawn("path", {
      d: path(line.points, frame, chart.log), fill: "none", stroke: colour, "stroke-width": line.kind === "valid" ? 1.5 : 2.25,
      "stroke-dasharray": dashes, "stroke-linejoin": "round",
    }));
    if (line.kind !== "valid" || line.points.length > 120) continue;
    for (const { x, y } of line.points) {
      if (Number.isFinite(y) && (!chart.log || y > 0)) {
        made.push(drawn("circle", { cx: round(frame.x(x)), cy: round(frame.y(y)), r: 3.5, fill: ink.ground, stroke: colour, "stroke-width": 1.75 }));
      }
    }
  }
  return made;
}

export interface ChartView {
  readonly whole: HTMLElement;
  show(chart: Chart, ground: Ground): void;
  picture(title: string): SVGSVGElement | null;
  close(): void;
}

export function chartView(): ChartView {
  let chart: Chart | null = null;
  let ground: Ground = "light";
  let at: number | null = null;
  let frame: Frame | null = null;

  const lines = drawn("g");
  const cursor = drawn("g");
  const picture = drawn("svg", { tabindex: 0, role: "application", "aria-roledescription": "chart" }, lines, cursor);
  const body = element("tbody");
  const head = element("th", { with: { scope: "col" } });
  const values = element("table", { class: "run-values", with: { "aria-live": "polite" } },
    element("caption", { class: "visually-hidden" }, "Values where the line stands"),
    element("thead", {}, element("tr", {}, head, element("th", { with: { scope: "col" } }, "training"), element("th", { with: { scope: "col" } }, "validation"))), body);
  const place = element("div", { class: "chart-place" }, picture);
  const whole = element("div", { class: "chart" }, place, values);
  const watcher = new ResizeObserver(() => draw());
  watcher.observe(place);

  function draw(): void {
    if (!chart) return;
    const width = Math.max(260, place.clientWidth);
    const height = Math.max(260, Math.min(460, Math.round(width * 0.5)));
    frame = framed(chart, width, height);
    picture.setAttribute("width", String(width));
    picture.setAttribute("height", String(height));
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("aria-label", `${chart.figure} of ${new Set(chart.lines.map(({ run }) => run)).size} runs; arrow keys move a line over it`);
    fill(lines, ...chartParts(chart, frame, ground));
    point();
  }

  /** The line, and the values of all runs there. Without one, the last values are told. */
  function point(): void {
    if (!chart || !frame) return;
    const ink = inks(ground);
    const found = frame;
    const runs = [...new Map(chart.lines.map((line) => [line.run, line.style]))];
    head.textContent = at === null ? "last values" : chart.by === "seconds" ? `at ${duration(at)}` : `at step ${Math.round(at)}`;
    const dots: SVGElement[] = [];
    const value = (run: string, kind: Line["kind"]): string => {
      const line = chart?.lines.find((one) => one.run === run && one.kind === kind);
      const index = line ? (at === null ? line.points.length - 1 : nearest(line.points, at)) : null;
      const one = line && index !== null ? line.points[index] : undefined;
      if (!line || !one) return "–";
      if (at !== null && Number.isFinite(one.y) && !(chart?.log && one.y <= 0)) {
        dots.push(drawn("circle", { cx: round(found.x(one.x)), cy: round(found.y(one.y)), r: 5, fill: styleOf(line.style, ground).colour, stroke: ink.ground, "stroke-width": 1.5 }));
      }
      return figure(one.y);
    };
    fill(body, ...runs.map(([run, style]) => element("tr", {},
      element("th", { with: { scope: "row" } }, sample(style, ground), " ", element("bdi", {}, run)),
      element("td", { class: "number" }, value(run, "train")), element("td", { class: "number" }, value(run, "valid")))));
    fill(cursor, at === null ? null : drawn("path", {
      d: `M${round(found.x(at))} ${TOP}V${found.height - BOTTOM}`, stroke: ink.text, "stroke-dasharray": "3 3",
    }), ...dots);
  }

  /** Every x at which there is something. */
  function stops(): number[] {
    return [...new Set((chart?.lines ?? []).flatMap(({ points }) => points.map(({ x }) => x)))].sort((one, other) => one - other);
  }

  picture.addEventListener("pointermove", (event) => {
    if (!frame) return;
    const part = (event.clientX - picture.getBoundingClientRect().left - LEFT) / (frame.width - LEFT - RIGHT);
    const x = frame.across.least + Math.min(1, Math.max(0, part)) * (frame.across.most - frame.across.least);
    const all = stops();
    const index = nearest(all.map((one) => ({ x: one, y: 0 })), x);
    at = index === null ? null : all[index] ?? null;
    point();
  });
  picture.addEventListener("pointerleave", () => {
    if (document.activeElement === picture) return;
    at = null;
    point();
  });
  picture.addEventListener("blur", () => {
    at = null;
    point();
  });
  picture.addEventListener("keydown", (event) => {
    const all = stops();
    const now = at === null ? -1 : all.indexOf(at);
    const steps: Record<string, number> = { ArrowLeft: now - 1, ArrowRight: now + 1, PageUp: now - 10, PageDown: now + 10, Home: 0, End: all.length - 1 };
    if (event.key === "Escape") at = null;
    else if (steps[event.key] === undefined) return;
    else at = all[Math.max(0, Math.min(all.length - 1, steps[event.key] ?? 0))] ?? null;
    event.preventDefault();
    point();
  });

  return {
    whole,
    show(next, on) {
      chart = next;
      ground = on;
      draw();
    },
    picture: (title) => (chart ? chartPicture(chart, title, ground) : null),
    close: () => watcher.disconnect(),
  };
}

export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 1e4 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

/** The chart with its legend, for a file. */
function chartPicture(chart: Chart, title: string, ground: Ground): SVGSVGElement {
  const ink = inks(ground);
  const [width, height] = [900, 460];
  const runs = [...new Map(chart.lines.map((line) => [line.run, line.style]))];
  let [x, y] = [LEFT, 56];
  const legend = runs.flatMap(([run, style]) => {
    const { colour, dashes } = styleOf(style, ground);
    const told = shortened(run, 13, 240);
    const wide = 46 + textWidth(told, 13) + 24;
    if (x > LEFT && x + wide > width) [x, y] = [LEFT, y + 22];
    const made = [
      drawn("path", { d: `M${x} ${y - 4}h36`, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dashes }),
      words(x + 44, y, told, 13, ink.text),
    ];
    x += wide;
    return made;
  });
  const body = drawn("g", { transform: `translate(0 ${y + 14})` }, ...chartParts(chart, framed(chart, width, height), ground));
  return sheet(width, height + y + 14, ground, words(LEFT, 28, title, 16, ink.text, "start", 600), ...legend, body);
}
