// What the view of attention shows, whatever the model reads: what looks, what is looked at, and how much.

import type { AttentionKind, Heads, ModelInfo, Token, Trace } from "../api.js";
import { regionName } from "../grid.js";
import { at, kendall, largest, row, strongest, together, type Matrix } from "../matrix.js";
import type { Scale } from "../scale.js";
import { arranged, nameless, places, type Place, type Shown } from "../tokens.js";

export type Measure = "attention" | "gradient" | "erasure";
/** `mean`, `max`, or a layer and a head of it, from 1: `2.3`. */
export type Pick = string;

export interface Wanted extends Shown {
  readonly kind: AttentionKind;
  readonly measure: Measure;
  readonly pick: Pick;
}

/** From so many places on, weights are seen beside the strongest of them. */
export const MANY = 40;

/** How the two sides are called. */
export interface Sides {
  readonly rows: string;
  readonly columns: string;
}

export interface Scene {
  readonly sides: Sides;
  /** What looks. */
  readonly rows: readonly Place[];
  /** What is looked at. */
  readonly columns: readonly Place[];
  readonly matrix: Matrix;
  readonly scale: Scale;
  /** The value of the strongest colour. */
  readonly limit: number;
  /** log p of each row, where it was written. */
  readonly logProbabilities: readonly number[] | null;
  readonly agreement: readonly Agreement[] | null;
}

/** How far attention explains a step. */
export interface Agreement {
  /** Kendall's τ of attention and the size of gradient × input. */
  readonly gradient: number | undefined;
  /** Kendall's τ of attention and erasure. */
  readonly erasure: number | undefined;
  /** How probable the token is, and how probable without the place that it looked at most. */
  readonly probability: number;
  readonly without: number;
  /** That place. */
  readonly attended: number;
  /** How probable it is without one of the other places, on average. */
  readonly otherwise: number | undefined;
}

/** The attentions of a model that stand between two sides, the first is the usual one. */
export function kinds(model: ModelInfo): AttentionKind[] {
  const order: AttentionKind[] = ["cross", "pooling", "encoder", "decoder"];
  const found = order.filter((kind) => model.attentions.includes(kind));
  return model.reads === "texts" ? found : found.filter((kind) => kind === "cross" || kind === "pooling");
}

/** What a pick comes to: the mean or the maximum of all heads, or one of them. */
export function picked(heads: Heads, pick: Pick): Matrix {
  const found = /^(\d+)\.(\d+)$/.exec(pick);
  if (found) {
    const layer = heads.layers[Number(found[1]) - heads.firstLayer];
    const one = layer?.[Number(found[2]) - 1];
    if (one) return one;
  }
  return together(heads.layers.flat(), pick === "max" ? "max" : "mean");
}

/** Whether heads must be asked for. */
export function needsHeads(model: ModelInfo, wanted: Wanted): boolean {
  return wanted.measure === "attention" && model.reads !== "sounds" &&
    (wanted.pick !== "mean" || wanted.kind === "encoder" || wanted.kind === "decoder" ||
      (wanted.kind === "pooling" && model.reads === "texts"));
}

const SIDES: Record<AttentionKind, Sides> = {
  cross: { rows: "What it wrote", columns: "What it read" },
  pooling: { rows: "What it told", columns: "What it read" },
  encoder: { rows: "Reading: who looks", columns: "Reading: at what" },
  decoder: { rows: "Writing: who looks", columns: "Writing: at what" },
};

/** Puts a trace on two axes; nothing where the model has not looked. */
export function scene(trace: Trace, model: ModelInfo, wanted: Wanted): Scene | null {
  const heads = trace.attentions.find(({ kind }) => kind === wanted.kind);
  const ofSource = wanted.kind === "cross" || wanted.kind === "pooling";
  const attention = heads && needsHeads(model, wanted) ? picked(heads, wanted.pick) : ofSource ? trace.weights : null;
  const given = trace.attributions;
  const matrix = wanted.measure === "attention" ? attention : given?.[wanted.measure] ?? null;
  if (!matrix || matrix.rows === 0 || matrix.columns === 0) return null;

  const told: readonly Token[] = trace.target.length > 0 ? trace.target : [{ text: trace.text, word: 0 }];
  const queries = ofSource || !heads ? told : heads.queries;
  const keys = ofSource || !heads ? trace.source : heads.keys;
  const rows = places(queries.slice(0, matrix.rows), wanted);
  const columns = keys.length === matrix.columns
    ? places(keys, wanted)
    : nameless(matrix.columns, (place) => columnName(trace, place));
  const signed = wanted.measure !== "attention";
  const made = arranged(matrix, rows, columns, signed ? "sum" : "share");
  const written = trace.target.length > 0 && (ofSource || wanted.kind === "decoder");
  return {
    sides: SIDES[wanted.kind],
    rows,
    columns,
    matrix: made,
    scale: signed ? "signed" : "share",
    // Among many places every share is small.
    limit: signed || columns.length > MANY ? largest(made) : 1,
    logProbabilities: written && ofSource ? rows.map(({ tokens }) => sum(trace.logProbabilities, tokens)) : null,
    agreement: given && trace.weights && written && ofSource ? agreement(trace, given, rows, columns) : null,
  };
}

function columnName(trace: Trace, place: number): string {
  if (trace.grid) return regionName(trace.grid, place);
  if (trace.timeline) {
    const from = trace.timeline.start + place * trace.timeline.step;
    return `${from.toFixed(2)}–${(from + trace.timeline.step).toFixed(2)} s`;
  }
  return String(place + 1);
}

function sum(values: readonly number[], of: readonly number[]): number {
  return of.reduce((total, place) => total + (values[place] ?? 0), 0);
}

/** Attention beside gradient × input and erasure, row by row. The end is never left out of a text, and does not count. */
function agreement(
  trace: Trace,
  given: { readonly gradient: Matrix; readonly erasure: Matrix },
  rows: readonly Place[],
  columns: readonly Place[],
): Agreement[] {
  if (!trace.weights) return [];
  const end = trace.source.length - 1;
  const parts = columns.filter(({ tokens }) => !(end > 0 && tokens[0] === end && trace.source[end]?.word === null));
  const weights = arranged(trace.weights, rows, parts, "share");
  const gradient = arranged(given.gradient, rows, parts, "sum");
  const erasure = arranged(given.erasure, rows, parts, "sum");
  return rows.map(({ tokens }, place) => {
    const looked = row(weights, place);
    const attended = strongest(looked) ?? 0;
    const before = sum(trace.logProbabilities, tokens);
    const left = (column: number): number => Math.min(1, Math.exp(before - at(erasure, place, column)));
    const others = parts.map((_, column) => column).filter((column) => column !== attended);
    return {
      gradient: kendall(looked, row(gradient, place).map(Math.abs)),
      erasure: kendall(looked, row(erasure, place)),
      probability: Math.exp(before),
      without: left(attended),
      attended: columns.indexOf(parts[attended] as Place),
      otherwise: others.length > 0 ? others.reduce((total, column) => total + left(column), 0) / others.length : undefined,
    };
  });
}

/** The mean of what there is. */
export function mean(values: readonly (number | undefined)[]): number | undefined {
  const there = values.filter((value): value is number => value !== undefined);
  return there.length > 0 ? there.reduce((total, value) => total + value, 0) / there.length : undefined;
}
