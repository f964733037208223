// What is different between two sequences of words: a longest common subsequence stays, the rest is gone or new.

export type Part<Item> =
  | { readonly kind: "same"; readonly before: Item; readonly after: Item }
  | { readonly kind: "gone"; readonly before: Item }
  | { readonly kind: "new"; readonly after: Item };

/** Larger tables are not filled: the middle of such sequences counts as other as a whole. */
const MOST_CELLS = 4_000_000;

/**
 * The parts of both sequences in order; of what changed in one place, what is gone stands before what is new.
 *
 * Lengths of common subsequences, from the ends: L[i, j] = L[i+1, j+1] + 1 where the items are the same, and otherwise the
 * larger of L[i+1, j] and L[i, j+1].
 */
export function difference<Item>(
  before: readonly Item[],
  after: readonly Item[],
  name: (item: Item) => string = String,
): Part<Item>[] {
  const [left, right] = [before.map(name), after.map(name)];
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let ending = 0;
  while (ending < shorter - start && left[left.length - 1 - ending] === right[right.length - 1 - ending]) ending += 1;

  const [rows, columns] = [left.length - start - ending, right.length - start - ending];
  const wide = columns + 1;
  const known = (rows + 1) * wide <= MOST_CELLS;
  const lengths = new Uint32Array(known ? (rows + 1) * wide : 0);
  for (let row = known ? rows - 1 : -1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      const found = left[start + row] === right[start + column]
        ? (lengths[(row + 1) * wide + column + 1] as number) + 1
        : Math.max(lengths[(row + 1) * wide + column] as number, lengths[row * wide + column + 1] as number);
      lengths[row * wide + column] = found;
    }
  }

  const parts: Part<Item>[] = [];
  const added: Part<Item>[] = [];
  const same = (row: number, column: number): void => {
    parts.push(...added.splice(0), { kind: "same", before: before[row] as Item, after: after[column] as Item });
  };
  for (let place = 0; place < start; place += 1) same(place, place);
  let [row, column] = [0, 0];
  while (row < rows || column < columns) {
    if (known && row < rows && column < columns && left[start + row] === right[start + column]) {
      same(start + row, start + column);
      row += 1;
      column += 1;
    } else if (row < rows && (column >= columns || !known ||
      (lengths[(row + 1) * wide + column] as number) >= (lengths[row * wide + column + 1] as number))) {
      parts.push({ kind: "gone", before: before[start + row] as Item });
      row += 1;
    } else {
      added.push({ kind: "new", after: after[start + column] as Item });
      column += 1;
    }
  }
  parts.push(...added.splice(0));
  for (let place = 0; place < ending; place += 1) same(left.length - ending + place, right.length - ending + place);
  return parts;
}

/** How many are gone and how many are new. */
export function counted(parts: readonly Part<unknown>[]): { readonly gone: number; readonly fresh: number } {
  const of = (kind: string): number => parts.filter((part) => part.kind === kind).length;
  return { gone: of("gone"), fresh: of("new") };
}

/** The words of a text, as they are compared. */
export function pieces(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}
