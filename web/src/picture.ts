// Pictures that are saved: everything is in attributes, so that a file needs nothing else.

import { drawn, type Child } from "./dom.js";
import { inks, type Ground } from "./scale.js";

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

let measuring: CanvasRenderingContext2D | null | undefined;

/** How wide a text is, in units of the page. */
export function textWidth(text: string, size: number, weight = 400): number {
  measuring ??= document.createElement("canvas").getContext("2d");
  if (!measuring) return text.length * size * 0.6;
  measuring.font = `${weight} ${size}px ${FONT}`;
  return measuring.measureText(text).width;
}

/** A text no wider than that: its end gives way. */
export function shortened(text: string, size: number, most: number): string {
  if (textWidth(text, size) <= most) return text;
  const letters = [...text];
  let [fits, over] = [0, letters.length];
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (textWidth(`${letters.slice(0, middle).join("")}…`, size) <= most) fits = middle;
    else over = middle;
  }
  return `${letters.slice(0, fits).join("")}…`;
}

/** Words in lines no wider than that. */
export function lines(text: string, size: number, most: number): string[] {
  const made: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = line ? `${line} ${word}` : word;
    if (line && textWidth(longer, size) > most) {
      made.push(line);
      line = shortened(word, size, most);
    } else line = textWidth(longer, size) > most ? shortened(longer, size, most) : longer;
  }
  if (line) made.push(line);
  return made;
}

/** A sheet of that size, with its ground. */
export function sheet(width: number, height: number, ground: Ground, ...children: readonly Child[]): SVGSVGElement {
  const [across, down] = [Math.ceil(width), Math.ceil(height)];
  return drawn("svg", { xmlns: "http://www.w3.org/2000/svg", width: across, height: down, viewBox: `0 0 ${across} ${down}`, "font-family": FONT },
    drawn("rect", { width: across, height: down, fill: inks(ground).ground }), ...children);
}

export function words(
  x: number,
  y: number,
  text: string,
  size: number,
  fill: string,
  anchor: "start" | "middle" | "end" = "start",
  weight = 400,
): SVGTextElement {
  return drawn("text", { x: round(x), y: round(y), "font-size": size, fill, "text-anchor": anchor, "font-weight": weight }, printable(text));
}

/** Files of this kind may not hold every character. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
