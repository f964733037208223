// A recording over time, drawn.

import { inks, type Ground } from "./scale.js";
import { envelope } from "./sound.js";

/** Fits the dots of a canvas to its place on the screen, and gives what draws on it in units of the page. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const sharpness = Math.min(2, window.devicePixelRatio || 1);
  const [across, down] = [Math.max(1, Math.round(width * sharpness)), Math.max(1, Math.round(height * sharpness))];
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== down) canvas.height = down;
  const context = canvas.getContext("2d");
  context?.setTransform(sharpness, 0, 0, sharpness, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

export function drawWave(canvas: HTMLCanvasElement, buffer: AudioBuffer, ground: Ground): void {
  const { width, height } = canvas.getBoundingClientRect();
  const context = sized(canvas, width, height);
  if (context) paintWave(context, buffer, 0, 0, width, height, inks(ground).accent);
}

export function paintWave(
  context: CanvasRenderingContext2D,
  buffer: AudioBuffer,
  left: number,
  top: number,
  width: number,
  height: number,
  ink: string,
): void {
  const stretches = Math.max(1, Math.floor(width));
  const { low, high } = envelope(buffer.getChannelData(0), stretches);
  const most = Math.max(1e-4, high.reduce((one, other) => Math.max(one, other), 0), -low.reduce((one, other) => Math.min(one, other), 0));
  context.fillStyle = ink;
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const above = ((high[stretch] as number) / most) * (height / 2);
    const below = (-(low[stretch] as number) / most) * (height / 2);
    context.fillRect(left + stretch, top + height / 2 - above, 1, Math.max(1, above + below));
  }
}
