// An answer as a picture.

import type { Answer, Output } from "../api.js";
import { drawn } from "../dom.js";
import { percent } from "../numbers.js";
import { lines, sheet, shortened, words } from "../picture.js";
import { inks, type Ground } from "../scale.js";

const WIDTH = 720;
const MARGIN = 24;

/** Source, output and bars below each other. */
export function answerPicture(answer: Answer, ground: Ground): SVGSVGElement {
  const ink = inks(ground);
  const parts: SVGElement[] = [];
  let down = MARGIN;
  const paragraph = (text: string, size: number, fill: string): void => {
    for (const line of lines(text, size, WIDTH - 2 * MARGIN)) {
      down += size * 1.35;
      parts.push(words(MARGIN, down, line, size, fill));
    }
    down += size * 0.6;
  };
  const bar = (name: string, share: number, part: number): void => {
    down += 26;
    parts.push(
      words(MARGIN, down, shortened(name, 14, 330), 14, ink.text),
      drawn("rect", { x: 370, y: down - 11, width: 240, height: 12, fill: "none", stroke: ink.line }),
      drawn("rect", { x: 370, y: down - 11, width: Math.max(1, 240 * part), height: 12, fill: ink.accent }),
      words(WIDTH - MARGIN, down, percent(share), 14, ink.text, "end"));
  };
  const source = answer.source ?? answer.prompt;
  if (source) paragraph(source, 15, ink.quiet);
  const best: Partial<Output> = answer.n_best?.[0] ?? answer;
  const said = answer.label ?? best.text;
  if (said) paragraph(said, 22, ink.text);
  const labels = Object.entries(answer.probabilities ?? {}).sort((one, other) => other[1] - one[1]);
  for (const [name, share] of labels.slice(0, 40)) bar(name, share, share);
  (answer.labels ?? []).forEach((label, place) => {
    const share = answer.confidences?.[place] ?? 0;
    bar(`${String(answer.words?.[place] ?? "")}: ${label}`, share, share);
  });
  (answer.gaps ?? []).flat().forEach(({ token, probability }) => bar(token, probability, probability));
  if (answer.n_best && answer.n_best.length > 1) {
    const first = Math.max(1e-30, Math.exp(Math.max(...answer.n_best.map(({ score }) => score))));
    for (const output of answer.n_best) bar(output.text, Math.exp(output.score), Math.min(1, Math.exp(output.score) / first));
  } else {
    (best.log_probabilities ?? []).forEach((value, place) =>
      bar(best.tokens?.[place] ?? "⟨end⟩", Math.exp(value), Math.exp(value)));
  }
  return sheet(WIDTH, down + MARGIN, ground, ...parts);
}
