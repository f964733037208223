// The regions of an image, which a model looks at as it looks at words: a grid over as much of the image as it sees.

/** An upright rectangle. */
export type Box = readonly [left: number, top: number, width: number, height: number];

/** Regions of one size, counted row after row. */
export interface Grid {
  readonly rows: number;
  readonly columns: number;
  /** The part of the image that they cover, as shares of its width and height. */
  readonly covered: Box;
}

const WHOLE: Box = [0, 0, 1, 1];

/** A grid as the service sends it: rows and columns, and what they cover, which is all of the image if that is not said. */
export function receivedGrid(sent: readonly [number, number], covered: Box = WHOLE): Grid {
  return { rows: sent[0], columns: sent[1], covered };
}

export function regionCount(grid: Grid): number {
  return grid.rows * grid.columns;
}

/** Row and column of a region, from 0. */
export function placeOf(grid: Grid, region: number): readonly [row: number, column: number] {
  return [Math.floor(region / grid.columns), region % grid.columns];
}

/** What a region is called. */
export function regionName(grid: Grid, region: number): string {
  const [row, column] = placeOf(grid, region);
  return `row ${row + 1}, column ${column + 1}`;
}

/** Where a region stands when the image is drawn in that size. */
export function regionBox(grid: Grid, region: number, width: number, height: number): Box {
  const [row, column] = placeOf(grid, region);
  const [left, top, across, down] = grid.covered;
  const [wide, high] = [(across * width) / grid.columns, (down * height) / grid.rows];
  return [left * width + column * wide, top * height + row * high, wide, high];
}

/** The region under a point, given as shares of the image's width and height; −1 where there is none. */
export function regionAt(grid: Grid, x: number, y: number): number {
  const [left, top, across, down] = grid.covered;
  const column = Math.floor(((x - left) / across) * grid.columns);
  const row = Math.floor(((y - top) / down) * grid.rows);
  return column >= 0 && row >= 0 && column < grid.columns && row < grid.rows ? row * grid.columns + column : -1;
}

const ARROWS: ReadonlyMap<string, readonly [down: number, across: number]> = new Map([
  ["ArrowUp", [-1, 0]], ["ArrowDown", [1, 0]], ["ArrowLeft", [0, -1]], ["ArrowRight", [0, 1]],
]);

/** The region that a key leads to, which at the border is the same one; nothing if it is no arrow key. */
export function regionBeside(grid: Grid, region: number, key: string): number | null {
  const arrow = ARROWS.get(key);
  if (!arrow) return null;
  const [row, column] = placeOf(grid, region);
  const [down, across] = [row + arrow[0], column + arrow[1]];
  return down >= 0 && across >= 0 && down < grid.rows && across < grid.columns ? down * grid.columns + across : region;
}
