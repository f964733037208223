// A recording over time, and under it a band for each word: when the model listened. It plays, and words light up as
// they are heard.

import type { Times } from "../api.js";
import { button, drawn, element } from "../dom.js";
import { at, largest, row } from "../matrix.js";
import { round, sheet, shortened, words } from "../picture.js";
import { colour, hex, inks, type Ground } from "../scale.js";
import { decoded, envelope, Player } from "../sound.js";
import type { Loaded } from "../source.js";
import { paintWave, sized } from "../wave.js";
import { dressed, type Light, type Stage, type StageEvents } from "./stage.js";
import type { Scene } from "./scene.js";
import { tokenRow } from "./token-row.js";

const WAVE = 110;
const LINE = 22;
const LABELS = 76;
const TICKS = 20;

export function band(file: Loaded, times: Times, events: StageEvents): Stage {
  let scene: Scene | null = null;
  let ground: Ground = "light";
  let light: Light | null = null;
  let buffer: AudioBuffer | null = null;
  let cursor = 0;
  let frame = 0;

  const rows = tokenRow("row", events, () => false);
  const title = element("h3", { class: "side" });
  const canvas = element("canvas", {
    class: "band-picture",
    with: { tabindex: 0, role: "application", "aria-label": "The recording; left and right move over it, Enter plays from there" },
  });
  const player = new Player(() => {
    play.textContent = player.isPlaying ? "Stop" : "Play";
    if (player.isPlaying) follow();
    else events.point(null);
    paint();
  });
  const play = button("Play", () => {
    if (player.isPlaying) player.stop();
    else if (buffer) void player.play(buffer);
  });
  play.disabled = true;
  const whole = element("div", { class: "band" },
    element("div", { class: "controls" }, play),
    canvas,
    element("div", { class: "side-box" }, title, rows.whole));
  decoded(file).then((found) => {
    buffer = found;
    play.disabled = false;
    paint();
  }, () => undefined);
  const watcher = new ResizeObserver(() => paint());
  watcher.observe(whole);

  const seconds = (): number => Math.max(buffer?.duration ?? 0, times.start + times.places * times.step, 0.01);
  const width = (): number => Math.max(120, whole.clientWidth);
  const across = (time: number): number => LABELS + (time / seconds()) * (width() - LABELS);
  const placeAt = (time: number): number =>
    Math.max(0, Math.min(times.places - 1, Math.floor((time - times.start) / times.step)));
  const timeOf = (event: MouseEvent): number =>
    ((event.clientX - canvas.getBoundingClientRect().left - LABELS) / (width() - LABELS)) * seconds();

  function follow(): void {
    cancelAnimationFrame(frame);
    if (!player.isPlaying) return;
    const index = placeAt(player.time);
    if (light?.side !== "column" || light.index !== index) events.point({ side: "column", index });
    paint();
    frame = requestAnimationFrame(follow);
  }

  canvas.addEventListener("pointermove", (event) => {
    if (player.isPlaying) return;
    const y = event.clientY - canvas.getBoundingClientRect().top;
    const line = Math.floor((y - WAVE - TICKS) / LINE);
    const time = timeOf(event);
    // Over the name of a word, that word; elsewhere the time.
    if (time < 0 && scene && line >= 0 && line < scene.rows.length) events.point({ side: "row", index: line });
    else events.point(time < 0 ? null : { side: "column", index: placeAt(time) });
  });
  canvas.addEventListener("pointerleave", () => { if (!player.isPlaying) events.point(null); });
  canvas.addEventListener("click", (event) => {
    const time = timeOf(event);
    if (time >= 0) events.pin({ side: "column", index: placeAt(time) });
  });
  canvas.addEventListener("focus", () => {
    if (canvas.matches(":focus-visible")) events.point({ side: "column", index: cursor });
  });
  canvas.addEventListener("blur", () => { if (!player.isPlaying) events.point(null); });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") cursor = Math.max(0, cursor - 1);
    else if (event.key === "ArrowRight") cursor = Math.min(times.places - 1, cursor + 1);
    else if (event.key === "Home") cursor = 0;
    else if (event.key === "End") cursor = times.places - 1;
    else if (event.key === "Enter" && buffer) void player.play(buffer, Math.min(buffer.duration, times.start + cursor * times.step));
    else return;
    event.preventDefault();
    events.point({ side: "column", index: cursor });
  });

  function paint(): void {
    if (!scene) return;
    const [wide, high] = [width(), WAVE + TICKS + scene.rows.length * LINE];
    canvas.style.height = `${high}px`;
    const context = sized(canvas, wide, high);
    if (!context) return;
    const ink = inks(ground);
    const stretch = ((wide - LABELS) * times.step) / seconds();
    if (light?.side === "row") {
      const values = row(scene.matrix, light.index);
      const most = largest(values) || 1;
      values.forEach((value, place) => {
        context.globalAlpha = 0.85;
        context.fillStyle = hex(colour("share", value / most, ground));
        context.fillRect(across(times.start + place * times.step), 0, stretch + 0.5, WAVE);
      });
      context.globalAlpha = 1;
    }
    if (buffer) {
      const end = across(buffer.duration);
      paintWave(context, buffer, LABELS, 4, end - LABELS, WAVE - 8, light?.side === "row" ? ink.text : ink.accent);
    }
    context.fillStyle = ink.quiet;
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "center";
    for (const time of ticks(seconds(), Math.max(2, Math.floor(wide / 90)))) {
      context.fillRect(across(time), WAVE, 1, 5);
      context.fillText(`${time} s`, Math.min(wide - 14, across(time)), WAVE + 17);
    }
    const lines = scene;
    scene.rows.forEach(({ text }, index) => {
      const top = WAVE + TICKS + index * LINE;
      const on = light?.side === "row" && light.index === index;
      const most = largest(row(lines.matrix, index)) || 1;
      context.textAlign = "end";
      context.fillStyle = on ? ink.mark : ink.text;
      context.font = `${on ? 700 : 400} 13px system-ui, sans-serif`;
      context.fillText(shortened(text, 13, LABELS - 10), LABELS - 8, top + LINE / 2 + 4);
      for (let place = 0; place < times.places; place += 1) {
        const value = at(lines.matrix, index, place);
        context.fillStyle = hex(colour("share", value / most, ground));
        context.fillRect(across(times.start + place * times.step), top + 2, stretch + 0.5, LINE - 4);
      }
    });
    if (light?.side === "column") {
      context.fillStyle = ink.mark;
      context.globalAlpha = 0.35;
      context.fillRect(across(times.start + light.index * times.step), 0, Math.max(2, stretch), high);
      context.globalAlpha = 1;
    }
    if (player.isPlaying) {
      context.fillStyle = ink.mark;
      context.fillRect(across(player.time), 0, 2, high);
    }
  }

  return {
    whole,
    show(next, on) {
      scene = next;
      ground = on;
      title.textContent = next.sides.rows;
      rows.show(next.rows, next.sides.rows);
      paint();
    },
    light(next, pinned) {
      light = next;
      if (next?.side === "column" && !player.isPlaying) cursor = next.index;
      if (!scene) return;
      // A part is one of many: it is judged beside the strongest of all, so that words can be compared.
      rows.dress(dressed(scene, "row", next, largest(scene.matrix) || 1, ground), next, pinned);
      paint();
    },
    picture() {
      const ink = inks(ground);
      const wide = 900;
      const left = 24 + LABELS;
      const x = (time: number): number => left + (time / seconds()) * (wide - 24 - left);
      const parts: SVGElement[] = [];
      if (buffer) {
        const count = 600;
        const { low, high } = envelope(buffer.getChannelData(0), count);
        const most = Math.max(1e-4, largest(low), largest(high));
        const end = x(buffer.duration);
        const points = Array.from(high, (value, place) => `${round(left + ((end - left) * place) / count)},${round(70 - (value / most) * 50)}`);
        const back = Array.from(low, (value, place) => `${round(left + ((end - left) * place) / count)},${round(70 - (value / most) * 50)}`).reverse();
        parts.push(drawn("polygon", { points: [...points, ...back].join(" "), fill: ink.accent }));
      }
      for (const time of ticks(seconds(), 9)) parts.push(words(x(time), 142, `${time} s`, 12, ink.quiet, "middle"));
      const now = scene;
      now?.rows.forEach(({ text }, index) => {
        const top = 150 + index * LINE;
        const most = largest(row(now.matrix, index)) || 1;
        parts.push(words(left - 8, top + LINE / 2 + 4, shortened(text, 13, LABELS - 8), 13, ink.text, "end"));
        for (let place = 0; place < times.places; place += 1) {
          parts.push(drawn("rect", {
            x: round(x(times.start + place * times.step)), y: top + 2, height: LINE - 4,
            width: round(((wide - 24 - left) * times.step) / seconds() + 0.3),
            fill: hex(colour("share", at(now.matrix, index, place) / most, ground)),
          }));
        }
      });
      return sheet(wide, 150 + (now?.rows.length ?? 0) * LINE + 24, ground, ...parts);
    },
    close() {
      cancelAnimationFrame(frame);
      player.stop();
      watcher.disconnect();
    },
  };
}

/** Times at round distances, at most so many. */
export function ticks(seconds: number, most: number): number[] {
  const step = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300].find((one) => seconds / one <= most) ?? 600;
  return Array.from({ length: Math.floor(seconds / step + 1e-9) + 1 }, (_, place) => Number((place * step).toFixed(1)));
}
