// Where the words of a source stand in the text that was typed, so that one of them can be left out or replaced while all
// else stays as it is.

import type { Changes } from "./whatif-changes.js";

export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds what a model has read in a text, word by word. A word that is not found as it is (a tokenizer may have normalised
 * it, or not known it) takes what stands up to the next one that is found. Where that comes to nothing, the text is cut at
 * its spaces.
 */
export function spans(text: string, read: readonly string[]): Span[] {
  const low = text.toLowerCase();
  // Letters that change their length with their case would move all that follows.
  const hay = low.length === text.length ? low : text;
  const found: (Span | null)[] = [];
  let from = 0;
  for (const word of read) {
    const wanted = low.length === text.length ? word.toLowerCase() : word;
    const at = wanted ? hay.indexOf(wanted, from) : -1;
    if (at < 0) found.push(null);
    else {
      found.push({ from: at, to: at + wanted.length });
      from = at + wanted.length;
    }
  }
  const made: Span[] = [];
  for (let place = 0; place < found.length; place += 1) {
    const known = found[place];
    if (known) {
      // Letters before a word that nobody claims: the words are not those of this text.
      if (text.slice(made[made.length - 1]?.to ?? 0, known.from).trim() !== "") return bySpaces(text);
      made.push(known);
      continue;
    }
    let next = place;
    while (next < found.length && !found[next]) next += 1;
    const gaps = cut(text, made[made.length - 1]?.to ?? 0, found[next]?.from ?? text.length);
    if (gaps.length !== next - place) return bySpaces(text);
    made.push(...gaps);
    place = next - 1;
  }
  const rest = text.slice(made[made.length - 1]?.to ?? 0).trim();
  return rest === "" && made.length > 0 ? made : bySpaces(text);
}

/** What stands between spaces in a part of a text. */
function cut(text: string, from: number, to: number): Span[] {
  return [...text.slice(from, to).matchAll(/\S+/g)].map((found) => ({ from: from + found.index, to: from + found.index + found[0].length }));
}

function bySpaces(text: string): Span[] {
  return cut(text, 0, text.length);
}

/** The text with its changes. A word that is left out takes one of the spaces around it along. */
export function changedText(text: string, places: readonly Span[], changes: Pick<Changes, "drops" | "edits">): string {
  let made = "";
  let from = 0;
  places.forEach((span, place) => {
    const edit = changes.edits.get(place);
    if (edit === undefined && !changes.drops.includes(place)) return;
    made += text.slice(from, span.from) + (edit ?? "");
    from = span.to;
    const bare = made === "" || /\s$/.test(made);
    if (edit === undefined && bare && /\s/.test(text.charAt(from))) from += 1;
  });
  made += text.slice(from);
  return text.endsWith(" ") ? made : made.trimEnd();
}
