// What a reader has changed, as it stands in the address: `drop=2.5`, `edit.3=dog`, `mask=cross.1.2-encoder.2.1`,
// `grey=4.5`, `mute=0.5-0.8_1.2-1.4`. Places, layers and heads are counted from 1 there, and from 0 here; heads from 1, as
// the service counts them.

import type { AttentionKind, HeadCount, MaskedHead } from "../api.js";

/** A part of a recording, in seconds. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface Changes {
  /** Places of the source that are left out. */
  readonly drops: readonly number[];
  /** Places of the source that read something else. */
  readonly edits: ReadonlyMap<number, string>;
  readonly masks: readonly MaskedHead[];
  /** Regions of an image that are painted over. */
  readonly grey: readonly number[];
  readonly mutes: readonly Stretch[];
}

type Options = ReadonlyMap<string, string>;

const MOST = 4096;
const LONGEST = 200;
const KINDS: readonly AttentionKind[] = ["cross", "encoder", "decoder"];

function numbers(told: string | undefined): number[] {
  if (!told || !/^\d{1,5}(\.\d{1,5})*$/.test(told)) return [];
  const found = told.split(".").map((number) => Number(number) - 1).filter((number) => number >= 0);
  return [...new Set(found)].sort((one, other) => one - other).slice(0, MOST);
}

export function parseChanges(options: Options): Changes {
  const edits = new Map<number, string>();
  for (const [key, value] of options) {
    const found = /^edit\.(\d{1,5})$/.exec(key);
    if (found && Number(found[1]) > 0 && edits.size < MOST) edits.set(Number(found[1]) - 1, value.slice(0, LONGEST));
  }
  return {
    drops: numbers(options.get("drop")).filter((place) => !edits.has(place)),
    edits: new Map([...edits].sort(([one], [other]) => one - other)),
    masks: (options.get("mask") ?? "").split("-").flatMap((told): MaskedHead[] => {
      const found = /^([a-z]+)\.(\d{1,4})\.(\d{1,4})$/.exec(told);
      const attention = KINDS.find((kind) => kind === found?.[1]);
      return found && attention ? [{ attention, layer: Number(found[2]), head: Number(found[3]) }] : [];
    }).slice(0, MOST),
    grey: numbers(options.get("grey")),
    mutes: (options.get("mute") ?? "").split("_").flatMap((told): Stretch[] => {
      const found = /^(\d{1,6}(?:\.\d{1,3})?)-(\d{1,6}(?:\.\d{1,3})?)$/.exec(told);
      const stretch = found ? { from: Number(found[1]), to: Number(found[2]) } : null;
      return stretch && stretch.to > stretch.from ? [stretch] : [];
    }).slice(0, MOST),
  };
}

/** Changes as options; what was in the address before and no longer holds is taken away. */
export function optionsOf(changes: Changes, before: Options): Record<string, string | null> {
  const made: Record<string, string | null> = {};
  for (const key of before.keys()) if (/^edit\.\d+$/.test(key)) made[key] = null;
  for (const [place, text] of changes.edits) made[`edit.${place + 1}`] = text;
  const list = (places: readonly number[]): string => [...places].sort((one, other) => one - other).map((place) => place + 1).join(".");
  made["drop"] = list(changes.drops) || null;
  made["grey"] = list(changes.grey) || null;
  made["mask"] = changes.masks.map(({ attention, layer, head }) => `${attention}.${layer}.${head}`).join("-") || null;
  made["mute"] = changes.mutes.map(({ from, to }) => `${Number(from.toFixed(3))}-${Number(to.toFixed(3))}`).join("_") || null;
  return made;
}

export function isEmpty(changes: Changes): boolean {
  return changes.drops.length + changes.edits.size + changes.masks.length + changes.grey.length + changes.mutes.length === 0;
}

export function isMasked(changes: Changes, head: MaskedHead): boolean {
  return changes.masks.some((one) => sameHead(one, head));
}

export function sameHead(one: MaskedHead, other: MaskedHead): boolean {
  return one.attention === other.attention && one.layer === other.layer && one.head === other.head;
}

/** Only what a model and a source have: heads by their number, places of so many. */
export function within(changes: Changes, heads: readonly HeadCount[], places: number): Changes {
  return {
    ...changes,
    drops: changes.drops.filter((place) => place < places),
    edits: new Map([...changes.edits].filter(([place]) => place < places)),
    masks: changes.masks.filter(({ attention, layer, head }) => heads.some((count) =>
      count.attention === attention && layer >= 1 && layer <= count.layers && head >= 1 && head <= count.heads)),
  };
}

/** With a stretch more; those that meet become one. */
export function withStretch(mutes: readonly Stretch[], stretch: Stretch): Stretch[] {
  const meeting = mutes.filter(({ from, to }) => from <= stretch.to && to >= stretch.from);
  const made = meeting.reduce((one, { from, to }) => ({ from: Math.min(one.from, from), to: Math.max(one.to, to) }), stretch);
  return [...mutes.filter((one) => !meeting.includes(one)), made].sort((one, other) => one.from - other.from);
}
