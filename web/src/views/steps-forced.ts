// Choices that a reader has made in place of the search: `12.51.7-8.9` in the address. Between two dashes stand the
// tokens up to one choice, by their numbers; the last of them is what was chosen, those before it are what the
// hypothesis had written until then.

export type Forced = readonly (readonly number[])[];

/** More tokens than this are no beginning. */
const MOST = 1024;

/** What an address says; nothing where it makes no sense. */
export function parseForced(text: string): Forced {
  if (!/^\d{1,9}([.-]\d{1,9})*$/.test(text)) return [];
  const found = text.split("-").map((stretch) => stretch.split(".").map(Number));
  return found.flat().length <= MOST ? found : [];
}

export function formatForced(forced: Forced): string {
  return forced.map((stretch) => stretch.join(".")).join("-");
}

/** All tokens that the output begins with. */
export function prefixOf(forced: Forced): number[] {
  return forced.flat();
}

/** The steps, from 0, at which something was chosen. */
export function chosenSteps(forced: Forced): number[] {
  let length = 0;
  return forced.map((stretch) => {
    length += stretch.length;
    return length - 1;
  });
}

/**
 * With a choice at the end of a path of tokens, from the first one on. Earlier choices that lie on the path stay; those
 * that do not, and later ones, are let go of.
 */
export function force(forced: Forced, path: readonly number[]): Forced {
  const made: number[][] = [];
  let from = 0;
  for (const stretch of forced) {
    const to = from + stretch.length;
    if (to >= path.length || stretch.some((token, place) => path[from + place] !== token)) break;
    made.push([...stretch]);
    from = to;
  }
  return path.length > from ? [...made, path.slice(from)] : made;
}

/** Without a choice, and without those that were made behind it. */
export function release(forced: Forced, choice: number): Forced {
  return forced.slice(0, choice);
}
