// Training: curves of one or many runs while they go on, what they wrote at each validation, and how they were set up.

import { oneOf, option, whole } from "../address.js";
import { Latest, pause } from "../api.js";
import { button, element, fill, freshId, select, toggle } from "../dom.js";
import { empty, trouble } from "../trouble.js";
import { duration } from "./runs-axis.js";
import { chartView, figure, sample, type Chart, type Line } from "./runs-chart.js";
import { extended, figuresOf, inOrder, pointsOf, smoothed, type Run, type RunInfo } from "./runs-curves.js";
import { configurations, samples, validations } from "./runs-samples.js";
import type { Context, Mounted, View } from "./view.js";

/** How often runs that go on are asked for, and others whether they go on again. */
const SOON = 2000;
const LATER = 10_000;
const MOST = 16;

export const runs: View = {
  id: "training",
  title: "Training",
  reads: false,
  suits: (_model, there) => there,
  mount,
};

function mount(container: HTMLElement, first: Context): Mounted {
  let context = first;
  let all: readonly RunInfo[] | null = null;
  let error: unknown = null;
  const known = new Map<string, Run>();
  const polling = new Latest();
  let listed = "";

  const list = element("ul", { class: "run-list", with: { "aria-label": "Runs" } });
  const which = select("Figure", (value) => context.change({ options: { figure: value === "loss" ? null : value } }));
  const by = select("over", (value) => context.change({ options: { over: value === "step" ? null : value } }));
  by.set([{ value: "step", text: "steps" }, { value: "seconds", text: "time" }], "step");
  const log = toggle("logarithmic", (on) => context.change({ options: { scale: on ? "log" : null } }));
  const id = freshId("smooth");
  const slider = element("input", {
    id,
    with: { type: "range", min: 0, max: 0.99, step: 0.01 },
    on: { input: () => context.change({ options: { smooth: slider.value === "0" ? null : slider.value } }) },
  });
  const told = element("output", { class: "number", with: { for: id } });
  const controls = element("div", { class: "controls", with: { role: "group", "aria-label": "The chart" } },
    which.whole, by.whole, log.whole,
    element("span", { class: "field" }, element("label", { with: { for: id } }, "Smoothing"), slider, told));
  const chart = chartView();
  const written = samples((step) => context.change({ options: { at: step === null ? null : String(step) } }));
  const configuration = configurations((on) => context.change({ options: { config: on ? "whole" : null } }));
  const clear = button("Choose none", () => context.change({ options: { runs: "-" } }, "push"), { class: "plain" });
  const body = element("div", { class: "runs" },
    element("section", { class: "runs-list" }, element("div", { class: "steps-head" }, element("h2", {}, "Runs"), clear), list),
    element("div", { class: "runs-shown" }, element("section", { with: { "aria-label": "Curves" } }, controls, chart.whole), written.whole, configuration.whole));
  const place = element("div", { class: "stage" });
  fill(container, place);

  /** Runs by their names in the address, with spaces between; the one that changed last if it does not say. */
  function chosen(): string[] {
    const names = option(context.state, "runs", "");
    const there = new Set((all ?? []).map(({ name }) => name));
    if (names !== "") {
      return names.split(" ").flatMap((name) => {
        try {
          return [decodeURIComponent(name)];
        } catch {
          return [];
        }
      }).filter((name) => there.has(name)).slice(0, MOST);
    }
    const last = [...(all ?? [])].sort((one, other) => Number(other.going_on) - Number(one.going_on) || other.changed - one.changed)[0];
    return last ? [last.name] : [];
  }

  function choose(name: string, on: boolean): void {
    const now = chosen().filter((one) => one !== name);
    const next = on ? [...now, name] : now;
    // None is a choice too, and not the same as no choice.
    context.change({ options: { runs: next.map(encodeURIComponent).join(" ") || "-" } }, "push");
  }

  function showList(): void {
    const names = chosen();
    const key = JSON.stringify([all, names, context.ground]);
    if (key === listed) return;
    listed = key;
    const focused = document.activeElement instanceof HTMLInputElement && list.contains(document.activeElement) ? document.activeElement.value : null;
    fill(list, ...(all ?? []).map((run) => {
      const style = names.indexOf(run.name);
      const box = element("input", { with: { type: "checkbox", value: run.name }, on: { change: () => choose(run.name, box.checked) } });
      box.checked = style >= 0;
      box.disabled = style < 0 && names.length >= MOST;
      const progress = run.steps === null ? `step ${run.step}` : `step ${run.step} of ${run.steps}`;
      const facts = [
        progress,
        ...(run.train_loss === null ? [] : [`training ${figure(run.train_loss)}`]),
        ...(run.valid_loss === null ? [] : [`validation ${figure(run.valid_loss)}`]),
        ...(run.seconds === null ? [] : [duration(run.seconds)]),
      ];
      const made = element("li", {}, element("label", {}, box, " ", element("bdi", {}, run.name),
        style >= 0 ? sample(style, context.ground) : null,
        run.going_on ? element("span", { class: "badge" }, "going on") : null,
        element("span", { class: "quiet" }, facts.join(", "))));
      return made;
    }));
    if (focused !== null) [...list.querySelectorAll("input")].find(({ value }) => value === focused)?.focus();
  }

  function chartOf(shown: readonly Run[]): Chart {
    const names = chosen();
    const smooth = weight();
    const axis = oneOf(context.state, "over", ["step", "seconds"]);
    const wanted = figureNow(shown);
    const lines = shown.flatMap((run) => ["train", "valid"].flatMap((kind): Line[] => {
      const raw = pointsOf(run, `${kind}.${wanted}`, axis);
      if (raw.length === 0) return [];
      const softened = smooth > 0 && kind === "train";
      return [{
        run: run.name,
        style: names.indexOf(run.name),
        kind: kind === "train" ? "train" : "valid",
        name: `${kind}.${wanted}`,
        points: softened ? smoothed(raw, smooth) : raw,
        raw: softened ? raw : null,
      }];
    }));
    return { lines, figure: wanted, by: axis, log: option(context.state, "scale", "") === "log" };
  }

  function weight(): number {
    const told_ = Number(option(context.state, "smooth", "0"));
    return Number.isFinite(told_) ? Math.min(0.99, Math.max(0, told_)) : 0;
  }

  function figureNow(shown: readonly Run[]): string {
    const there = figuresOf(shown);
    const wanted = option(context.state, "figure", "loss");
    return there.includes(wanted) ? wanted : there[0] ?? "loss";
  }

  function shownRuns(): Run[] {
    return chosen().flatMap((name) => known.get(name) ?? []);
  }

  function play(): void {
    if (error !== null && all === null) {
      fill(place, trouble(error, () => void poll()));
      return;
    }
    if (all === null) return;
    if (all.length === 0) {
      fill(place, empty("There are no training runs yet: a run appears here as soon as it has written its first figures."));
      return;
    }
    if (body.parentElement !== place) fill(place, body);
    const shown = shownRuns();
    showList();
    which.set(figuresOf(shown).map((value) => ({ value, text: value.replaceAll("_", " ") })), figureNow(shown));
    by.control.value = oneOf(context.state, "over", ["step", "seconds"]);
    log.control.checked = option(context.state, "scale", "") === "log";
    slider.value = String(weight());
    told.textContent = weight().toFixed(2);
    clear.hidden = chosen().length === 0;
    chart.show(chartOf(shown), context.ground);
    written.show(shown, whole(context.state, "at", 0, 999_999_999) ?? null);
    configuration.show(shown, option(context.state, "config", "") === "whole");
    context.exportable();
  }

  /** Whether there is more to know of a run than is known. */
  function isBehind(info: RunInfo): boolean {
    const mine = known.get(info.name);
    return !mine || mine.changed !== info.changed;
  }

  async function read(info: RunInfo, signal: AbortSignal): Promise<void> {
    const mine = known.get(info.name);
    const address = `/v1/runs/${encodeURIComponent(info.name)}`;
    const last = mine ? Math.max(0, ...mine.curves.map(({ steps }) => steps[steps.length - 1] ?? 0)) : 0;
    if (mine && last > 0 && info.step >= mine.step) {
      // The validation of a step is written after its figures of training: that step is asked for again.
      known.set(info.name, extended(mine, await context.service.get<Run>(`${address}?after=${last - 1}`, signal)));
    } else {
      const found = await context.service.get<Run>(address, signal);
      known.set(info.name, { ...found, curves: found.curves.map(inOrder) });
    }
  }

  async function round(signal: AbortSignal): Promise<void> {
    ({ runs: all } = await context.service.get<{ runs: readonly RunInfo[] }>("/v1/runs", signal));
    const names = new Set(chosen());
    await Promise.all(all.filter((info) => names.has(info.name) && isBehind(info)).map((info) => read(info, signal)));
  }

  /** Asks again and again, while the page can be seen. */
  function poll(): Promise<void> {
    return polling.run(async (signal) => {
      for (;;) {
        if (document.visibilityState === "visible") {
          try {
            await round(signal);
            error = null;
          } catch (found) {
            if (signal.aborted) throw found;
            error = found;
          }
          if (!signal.aborted) play();
        }
        await pause(all?.some(({ going_on }) => going_on) ? SOON : LATER, signal);
      }
    }, () => undefined, () => undefined);
  }
  const seen = (): void => { if (document.visibilityState === "visible") void poll(); };
  document.addEventListener("visibilitychange", seen);

  return {
    update(next) {
      const begun = all !== null || error !== null;
      context = next;
      if (!begun) {
        fill(place, empty("…"));
        void poll();
        return;
      }
      play();
      if ((all ?? []).some((info) => chosen().includes(info.name) && !known.has(info.name))) void poll();
    },
    exported() {
      const shown = shownRuns();
      if (shown.length === 0) return null;
      const made = chartOf(shown);
      return {
        name: `training-${made.figure}`,
        picture: chart.picture(`${made.figure.replaceAll("_", " ")} of ${shown.map(({ name }) => name).join(", ")}`.slice(0, 90)),
        data: { runs: shown, validations: validations(shown) },
      };
    },
    unmount() {
      polling.stop();
      document.removeEventListener("visibilitychange", seen);
      chart.close();
    },
  };
}
