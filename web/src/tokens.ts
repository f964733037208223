// Tokens for the eye: words out of pieces, ends left out.

import type { Token } from "./api.js";
import { merged, part, renormalised, type Matrix } from "./matrix.js";

/** What stands on an axis: a token, or the pieces of a word together. */
export interface Place {
  readonly text: string;
  /** The tokens that it is made of. */
  readonly tokens: readonly number[];
}

/** How an axis is shown. */
export interface Shown {
  /** Without the end. */
  readonly hideEnd: boolean;
  /** Words in place of their pieces. */
  readonly words: boolean;
}

/** A token without the marks of its tokenizer. */
export function plain(text: string): string {
  const bare = text.replace(/^[▁Ġ]+/, "").replace(/<\/w>$/, "").replace(/^##/, "").replace(/@@$/, "");
  return bare || text;
}

/** Bytes that stand for themselves, as the letters that they make together. */
export function letters(text: string): string {
  return text.replace(/(?:<0x[0-9A-F]{2}>)+/g, (run) => {
    const bytes = [...run.matchAll(/<0x([0-9A-F]{2})>/g)].map((found) => Number.parseInt(found[1] ?? "0", 16));
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
    } catch {
      return run;
    }
  });
}

/** The places of an axis. Without an end, or without several pieces of a word, nothing changes. */
export function places(tokens: readonly Token[], shown: Shown): Place[] {
  const made: { text: string; tokens: number[]; word: number | null }[] = [];
  tokens.forEach(({ text, word }, place) => {
    if (shown.hideEnd && word === null && place === tokens.length - 1 && tokens.length > 1) return;
    const last = made[made.length - 1];
    if (shown.words && last && word !== null && last.word === word) {
      last.text += plain(text);
      last.tokens.push(place);
    } else made.push({ text: shown.words && word !== null ? plain(text) : text, tokens: [place], word });
  });
  return made.map(({ text, tokens: own }) => ({ text: own.length > 1 ? letters(text) : text, tokens: own }));
}

/** Whether a word of them has several pieces. */
export function hasPieces(tokens: readonly Token[]): boolean {
  return tokens.some(({ word }, place) => word !== null && tokens[place - 1]?.word === word);
}

/** Whether they end with an end. */
export function hasEnd(tokens: readonly Token[]): boolean {
  return tokens.length > 1 && tokens[tokens.length - 1]?.word === null;
}

/** Places without names: regions, stretches of time. */
export function nameless(count: number, name: (place: number) => string): Place[] {
  return Array.from({ length: count }, (_, place) => ({ text: name(place), tokens: [place] }));
}

/**
 * Weights over the places of both axes. Shares sum to 1 again where the end was left out; what is told in nats or as
 * gradients adds up.
 */
export function arranged(of: Matrix, rows: readonly Place[], columns: readonly Place[], kind: "share" | "sum"): Matrix {
  const all = columns.flatMap(({ tokens }) => tokens);
  const whole = all.length === of.columns;
  const every = rows.every(({ tokens }) => tokens.length === 1) && columns.every(({ tokens }) => tokens.length === 1);
  const made = every
    ? part(of, rows.map(({ tokens }) => tokens[0] ?? 0), columns.map(({ tokens }) => tokens[0] ?? 0))
    : merged(of, rows.map(({ tokens }) => tokens), columns.map(({ tokens }) => tokens), kind === "share" ? "mean" : "sum");
  return kind === "share" && !whole ? renormalised(made) : made;
}

/** Whether a text runs from right to left, by its first letter that has a direction. */
export function isRightToLeft(text: string): boolean {
  const first = /[\p{L}]/u.exec(text)?.[0];
  return first !== undefined && /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.test(first);
}
