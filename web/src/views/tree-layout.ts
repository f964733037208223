// Where every node of a tree stands: a column for each step, rows from the top.
//
// The first child of a node stands in its row, so that the path of the best output is a straight line; the others hang
// below: first where greedy search goes, then short branches before long ones, so that what was pruned stays near. A
// branch is moved up as far as those above it leave room in all of its columns. Branches of later steps are placed
// before those of earlier ones, so that no line crosses another.

import { isPruned, type Node, type Tree } from "./tree-nodes.js";

export interface Layout {
  /** The row of each node; none if it is hidden. */
  readonly rows: readonly (number | null)[];
  /** How many rows there are. */
  readonly height: number;
  /** The nodes of each step that are shown, from the top. */
  readonly columns: readonly (readonly number[])[];
}

/** Places all nodes, or those alone that were not pruned. */
export function layOut({ nodes, first, steps }: Tree, pruned: boolean): Layout {
  const rows: (number | null)[] = nodes.map(() => null);
  const free = new Array<number>(steps).fill(0);
  const shows = (number: number): boolean => {
    const node = nodes[number] as Node;
    return pruned || node.greedy || !isPruned(node);
  };
  const behind = (number: number): number[] => (nodes[number] as Node).children.filter(shows);

  // The last step of what stands behind each node. What stands behind one comes after it in the list.
  const last = nodes.map(({ step }) => step);
  for (let number = nodes.length - 1; number >= 0; number -= 1) {
    const { parent } = nodes[number] as Node;
    if (parent !== null && shows(number)) last[parent] = Math.max(last[parent] as number, last[number] as number);
  }

  // Branches wait on a pile, so that a long text cannot exhaust the stack of calls.
  const waiting: number[] = [];
  const wait = (branches: readonly number[]): void => {
    const sorted = [...branches].sort((one, other) =>
      Number(!(nodes[one] as Node).greedy) - Number(!(nodes[other] as Node).greedy) || (last[one] as number) - (last[other] as number));
    waiting.push(...sorted.reverse());
  };
  const shown = first.filter(shows);
  wait(shown.slice(1));
  waiting.push(...shown.slice(0, 1));
  for (let start = waiting.pop(); start !== undefined; start = waiting.pop()) {
    const line: number[] = [];
    for (let at: number | undefined = start; at !== undefined; at = behind(at)[0]) line.push(at);
    const from = (nodes[start] as Node).step;
    const row = Math.max(...free.slice(from, from + line.length));
    free.fill(row + 1, from, from + line.length);
    for (const number of line) rows[number] = row;
    // The last one is taken first: what branches off from later steps.
    for (const number of line) wait(behind(number).slice(1));
  }

  const columns: number[][] = Array.from({ length: steps }, () => []);
  rows.forEach((row, number) => { if (row !== null) columns[(nodes[number] as Node).step]?.push(number); });
  for (const column of columns) column.sort((one, other) => (rows[one] as number) - (rows[other] as number));
  return { rows, height: Math.max(0, ...free), columns };
}
