// A recording of which stretches are made silent, by the pointer or by two numbers.

import { button, element, numberField } from "../dom.js";
import { inks, type Ground } from "../scale.js";
import { decoded, Player } from "../sound.js";
import { toBase64, toWav, type Loaded } from "../source.js";
import { paintWave, sized } from "../wave.js";
import type { Stretch } from "./whatif-changes.js";
import { muted } from "./whatif-wav.js";

export interface SoundChanges {
  readonly whole: HTMLElement;
  show(file: Loaded, mutes: readonly Stretch[], ground: Ground): void;
  close(): void;
}

/** A WAV file as it is; anything else as the browser decodes it, at its own rate, which is a small change by itself. */
async function asWav(file: Loaded): Promise<Uint8Array> {
  if (muted(file.bytes, [])) return file.bytes;
  const buffer = await decoded(file);
  return toWav(buffer.getChannelData(0), buffer.sampleRate);
}

/** The recording as a file, with silent stretches. */
export async function silenced(file: Loaded, mutes: readonly Stretch[]): Promise<string> {
  const made = muted(await asWav(file), mutes);
  if (!made) throw new Error("the browser cannot read this recording");
  return toBase64(made);
}

const HIGH = 110;

export function soundChanges(mute: (stretch: Stretch) => void): SoundChanges {
  let file: Loaded | null = null;
  let buffer: AudioBuffer | null = null;
  let mutes: readonly Stretch[] = [];
  let ground: Ground = "light";
  let drag: { readonly from: number; to: number } | null = null;

  const canvas = element("canvas", { class: "band-picture", with: { role: "img", "aria-label": "The recording over time, with its silent stretches" } });
  const ends: Record<"from" | "to", string> = { from: "", to: "" };
  const from = numberField("From", { min: 0, step: "any", placeholder: "0" }, (value) => { ends.from = value; });
  const to = numberField("to second", { min: 0, step: "any" }, (value) => { ends.to = value; });
  const add = button("Mute this stretch", () => {
    const most = buffer?.duration ?? 0;
    const stretch = { from: Math.max(0, Number(ends.from) || 0), to: Math.min(most, Number(ends.to || most)) };
    if (stretch.to > stretch.from) mute(stretch);
  });
  const player = new Player(() => { play.textContent = player.isPlaying ? "Stop" : "Play it so"; });
  const play = button("Play it so", () => {
    if (player.isPlaying) player.stop();
    else if (buffer) void player.play(withSilence(buffer));
  });
  const whole = element("section", { class: "whatif-sound", with: { "aria-label": "Changes of the recording" } },
    element("p", { class: "quiet" }, "Draw over a stretch to make it silent."), canvas,
    element("div", { class: "controls" }, from.whole, to.whole, add, play));
  const watcher = new ResizeObserver(() => draw());
  watcher.observe(canvas);

  function withSilence(of: AudioBuffer): AudioBuffer {
    const made = new AudioBuffer({ length: of.length, numberOfChannels: 1, sampleRate: of.sampleRate });
    const samples = of.getChannelData(0).slice();
    for (const stretch of mutes) samples.fill(0, Math.round(stretch.from * of.sampleRate), Math.round(stretch.to * of.sampleRate));
    made.copyToChannel(samples, 0);
    return made;
  }

  function draw(): void {
    const width = canvas.clientWidth;
    canvas.style.height = `${HIGH}px`;
    const context = sized(canvas, width, HIGH);
    if (!context || !buffer) return;
    const ink = inks(ground);
    paintWave(context, withSilence(buffer), 0, 8, width, HIGH - 24, ink.accent);
    const across = (second: number): number => (second / (buffer as AudioBuffer).duration) * width;
    const shade = (stretch: Stretch, stroke: string): void => {
      context.globalAlpha = 0.18;
      context.fillStyle = stroke;
      context.fillRect(across(stretch.from), 0, across(stretch.to) - across(stretch.from), HIGH - 16);
      context.globalAlpha = 1;
      context.strokeStyle = stroke;
      context.setLineDash([4, 3]);
      context.strokeRect(across(stretch.from), 0.5, across(stretch.to) - across(stretch.from), HIGH - 17);
      context.setLineDash([]);
    };
    for (const stretch of mutes) shade(stretch, ink.mark);
    if (drag) shade({ from: Math.min(drag.from, drag.to), to: Math.max(drag.from, drag.to) }, ink.text);
    context.fillStyle = ink.quiet;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "bottom";
    const each = Math.max(0.5, Math.ceil((buffer.duration / width) * 60 * 2) / 2);
    for (let second = 0; second <= buffer.duration; second += each) {
      context.textAlign = second === 0 ? "left" : across(second) > width - 20 ? "right" : "center";
      context.fillText(`${Number(second.toFixed(1))} s`, across(second), HIGH);
    }
  }

  const second = (event: PointerEvent): number => {
    const frame = canvas.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - frame.left) / frame.width));
    return Math.round(part * (buffer?.duration ?? 0) * 100) / 100;
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (!buffer || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    drag = { from: second(event), to: second(event) };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drag.to = second(event);
    draw();
  });
  canvas.addEventListener("pointerup", () => {
    const done = drag;
    drag = null;
    if (done && Math.abs(done.to - done.from) >= 0.02) mute({ from: Math.min(done.from, done.to), to: Math.max(done.from, done.to) });
    draw();
  });
  canvas.addEventListener("pointercancel", () => {
    drag = null;
    draw();
  });

  return {
    whole,
    show(next, silent, on) {
      mutes = silent;
      ground = on;
      if (next !== file) {
        file = next;
        buffer = null;
        player.stop();
        decoded(next).then((found) => {
          if (file !== next) return;
          buffer = found;
          to.control.placeholder = found.duration.toFixed(1);
          draw();
        }, () => undefined);
      }
      draw();
    },
    close() {
      player.stop();
      watcher.disconnect();
    },
  };
}
