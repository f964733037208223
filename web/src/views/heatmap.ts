// A matrix as a large heatmap with its axes, on a canvas: no element for a cell, whatever its size. The pointer and the
// keyboard move a cross over it.

import { drawn, element } from "../dom.js";
import { at, type Matrix } from "../matrix.js";
import { weight } from "../numbers.js";
import { round, sheet, shortened, textWidth, words } from "../picture.js";
import { colour, hex, ink as inkOn, inks, palette, step, type Ground, type Scale } from "../scale.js";
import { sized } from "../wave.js";

export interface Sheet {
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly matrix: Matrix;
  readonly scale: Scale;
  readonly limit: number;
}

export interface Cell {
  readonly row: number;
  readonly column: number;
}

const SIZE = 13;
const WIDEST = 110;

/** How large cells are, and where they begin. */
export interface Layout {
  readonly cell: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Every so manyth label is written. */
  readonly every: number;
}

/** Fits a heatmap into a width: cells from 3 to 48 units, labels as far apart as they can be read. */
export function layout(rows: number, columns: number, widestRow: number, widestColumn: number, available: number): Layout {
  const left = Math.ceil(widestRow) + 10;
  const top = Math.ceil(widestColumn) + 10;
  const cell = Math.max(3, Math.min(48, Math.floor((available - left) / Math.max(1, columns))));
  return { cell, left, top, width: left + cell * columns + 1, height: top + cell * rows + 1, every: Math.max(1, Math.ceil(15 / cell)) };
}

/** The cell under a point; nothing beside the cells. */
export function cellAt(of: Layout, rows: number, columns: number, x: number, y: number): Cell | null {
  const [column, row] = [Math.floor((x - of.left) / of.cell), Math.floor((y - of.top) / of.cell)];
  return row >= 0 && column >= 0 && row < rows && column < columns ? { row, column } : null;
}

/** The pixels of a matrix, one for a cell. */
export function pixels(of: Matrix, scale: Scale, limit: number, ground: Ground): ImageData {
  const colours = palette(scale, ground);
  const image = new ImageData(Math.max(1, of.columns), Math.max(1, of.rows));
  for (let place = 0; place < of.values.length; place += 1) {
    const from = step(scale, of.values[place] as number, limit) * 4;
    image.data.set(colours.subarray(from, from + 4), place * 4);
  }
  return image;
}

/** Draws a matrix over a rectangle. */
export function stamp(
  context: CanvasRenderingContext2D,
  image: ImageData,
  left: number,
  top: number,
  width: number,
  height: number,
): void {
  const small = document.createElement("canvas");
  small.width = image.width;
  small.height = image.height;
  small.getContext("2d")?.putImageData(image, 0, 0);
  // Larger cells stay sharp; smaller ones than a dot are averaged.
  context.imageSmoothingEnabled = image.width > width * 1.5;
  context.imageSmoothingQuality = "high";
  context.drawImage(small, left, top, width, height);
}

export interface Heatmap {
  readonly whole: HTMLElement;
  show(sheet: Sheet, ground: Ground): void;
  cursor(cell: Cell | null): void;
  picture(title: string): SVGSVGElement;
  close(): void;
}

export function heatmap(label: string, moved: (cell: Cell | null) => void): Heatmap {
  let shown: Sheet | null = null;
  let ground: Ground = "light";
  let cell: Cell | null = null;
  let kept: HTMLCanvasElement | null = null;
  const canvas = element("canvas", { with: { tabindex: 0, role: "application", "aria-label": label } });
  const whole = element("div", { class: "heatmap" }, canvas);
  const watcher = new ResizeObserver(() => render());
  watcher.observe(whole);

  const place = (): Layout => fitted(shown as Sheet, whole.clientWidth || 600);

  function render(): void {
    if (!shown) return;
    const of = place();
    canvas.style.width = `${of.width}px`;
    canvas.style.height = `${of.height}px`;
    // What does not change while the cross moves is drawn once.
    kept = document.createElement("canvas");
    const context = sized(kept, of.width, of.height);
    if (context) still(context, shown, of, ground);
    cross();
  }

  function cross(): void {
    if (!shown || !kept) return;
    const of = place();
    const context = sized(canvas, of.width, of.height);
    if (!context) return;
    context.drawImage(kept, 0, 0, of.width, of.height);
    if (!cell || cell.row >= shown.matrix.rows || cell.column >= shown.matrix.columns) return;
    const mark = inks(ground).mark;
    const [x, y] = [of.left + cell.column * of.cell, of.top + cell.row * of.cell];
    context.strokeStyle = mark;
    context.globalAlpha = 0.5;
    context.strokeRect(of.left - 0.5, y - 0.5, of.cell * shown.matrix.columns + 1, of.cell + 1);
    context.strokeRect(x - 0.5, of.top - 0.5, of.cell + 1, of.cell * shown.matrix.rows + 1);
    context.globalAlpha = 1;
    context.lineWidth = 2;
    context.strokeRect(x - 1, y - 1, of.cell + 2, of.cell + 2);
    label_(context, shown.rows[cell.row] ?? "", of.left - 6, y + of.cell / 2, 0, mark);
    label_(context, shown.columns[cell.column] ?? "", x + of.cell / 2, of.top - 6, -Math.PI / 2, mark);
  }

  /** The name of what the cross is on, over the others. */
  function label_(context: CanvasRenderingContext2D, text: string, x: number, y: number, turn: number, fill: string): void {
    context.save();
    context.translate(x, y);
    context.rotate(turn);
    context.font = `700 ${SIZE}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.textAlign = turn === 0 ? "end" : "start";
    const told = shortened(text, SIZE, WIDEST);
    const width = textWidth(told, SIZE, 700) + 6;
    context.fillStyle = inks(ground).ground;
    context.fillRect(turn === 0 ? -width : -2, -SIZE * 0.65, width + 3, SIZE * 1.3);
    context.fillStyle = fill;
    context.fillText(told, 0, 0);
    context.restore();
  }

  const under = (event: PointerEvent): Cell | null => {
    if (!shown) return null;
    const frame = canvas.getBoundingClientRect();
    return cellAt(place(), shown.matrix.rows, shown.matrix.columns, event.clientX - frame.left, event.clientY - frame.top);
  };
  canvas.addEventListener("pointermove", (event) => moved(under(event)));
  canvas.addEventListener("pointerleave", () => { if (document.activeElement !== canvas) moved(null); });
  canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) moved(cell ?? { row: 0, column: 0 }); });
  canvas.addEventListener("blur", () => moved(null));
  canvas.addEventListener("keydown", (event) => {
    if (!shown) return;
    const { rows, columns } = shown.matrix;
    const from = cell ?? { row: 0, column: 0 };
    const steps: Record<string, Cell> = {
      ArrowLeft: { ...from, column: from.column - 1 },
      ArrowRight: { ...from, column: from.column + 1 },
      ArrowUp: { ...from, row: from.row - 1 },
      ArrowDown: { ...from, row: from.row + 1 },
      Home: { ...from, column: 0 },
      End: { ...from, column: columns - 1 },
      PageUp: { ...from, row: from.row - 10 },
      PageDown: { ...from, row: from.row + 10 },
    };
    const to = steps[event.key];
    if (!to) return;
    event.preventDefault();
    moved({ row: Math.max(0, Math.min(rows - 1, to.row)), column: Math.max(0, Math.min(columns - 1, to.column)) });
  });

  return {
    whole,
    show(next, on) {
      shown = next;
      ground = on;
      render();
    },
    cursor(next) {
      cell = next;
      cross();
    },
    picture: (title) => heatmapPicture(shown as Sheet, title, ground),
    close: () => watcher.disconnect(),
  };
}

function fitted(shown: Sheet, available: number): Layout {
  const widest = (texts: readonly string[]): number =>
    Math.min(WIDEST, texts.reduce((most, text) => Math.max(most, textWidth(text, SIZE)), 10));
  return layout(shown.rows.length, shown.columns.length, widest(shown.rows), widest(shown.columns), available);
}

/** Cells, numbers where they fit, and labels. */
function still(context: CanvasRenderingContext2D, shown: Sheet, of: Layout, ground: Ground): void {
  const ink = inks(ground);
  const { rows, columns } = shown.matrix;
  stamp(context, pixels(shown.matrix, shown.scale, shown.limit, ground), of.left, of.top, of.cell * columns, of.cell * rows);
  context.strokeStyle = ink.line;
  context.strokeRect(of.left - 0.5, of.top - 0.5, of.cell * columns + 1, of.cell * rows + 1);
  context.textBaseline = "middle";
  if (of.cell >= 34) {
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        const value = at(shown.matrix, row, column);
        if (Math.abs(value) < 0.005) continue;
        context.fillStyle = inkOn(colour(shown.scale, value / shown.limit, ground));
        context.fillText(value.toFixed(2).replace(/^(-?)0\./, "$1.").replace("-", "−"), of.left + (column + 0.5) * of.cell, of.top + (row + 0.5) * of.cell);
      }
    }
  }
  context.fillStyle = ink.text;
  context.font = `${SIZE}px system-ui, sans-serif`;
  context.textAlign = "end";
  for (let row = 0; row < rows; row += of.every) {
    context.fillText(shortened(shown.rows[row] ?? "", SIZE, WIDEST), of.left - 6, of.top + (row + 0.5) * of.cell);
  }
  context.textAlign = "start";
  for (let column = 0; column < columns; column += of.every) {
    context.save();
    context.translate(of.left + (column + 0.5) * of.cell, of.top - 6);
    context.rotate(-Math.PI / 2);
    context.fillText(shortened(shown.columns[column] ?? "", SIZE, WIDEST), 0, 0);
    context.restore();
  }
}

/** Cells that are drawn one by one; more are one image inside the picture. */
const MOST_CELLS = 6000;

/** A heatmap as a picture. */
export function heatmapPicture(shown: Sheet, title: string, ground: Ground): SVGSVGElement {
  const ink = inks(ground);
  const of = fitted(shown, Math.max(600, Math.min(1600, shown.columns.length * 30 + 120)));
  const head = title ? 30 : 0;
  const down = of.top + head;
  const cells: SVGElement[] = [];
  if (shown.matrix.values.length <= MOST_CELLS) {
    for (let row = 0; row < shown.matrix.rows; row += 1) {
      for (let column = 0; column < shown.matrix.columns; column += 1) {
        const value = at(shown.matrix, row, column);
        const cell = drawn("rect", {
          x: of.left + column * of.cell, y: down + row * of.cell, width: of.cell, height: of.cell,
          fill: hex(colour(shown.scale, value / (shown.limit || 1), ground)),
        });
        cell.append(drawn("title", {}, `${shown.rows[row] ?? ""} → ${shown.columns[column] ?? ""}: ${weight(value)}`));
        cells.push(cell);
      }
    }
  } else {
    cells.push(drawn("image", {
      href: asImage(pixels(shown.matrix, shown.scale, shown.limit, ground)), x: of.left, y: down,
      width: of.cell * shown.matrix.columns, height: of.cell * shown.matrix.rows, preserveAspectRatio: "none",
      "image-rendering": "pixelated",
    }));
  }
  const labels = [
    ...shown.rows.flatMap((text, row) => row % of.every ? [] :
      [words(of.left - 6, down + (row + 0.5) * of.cell + SIZE * 0.35, shortened(text, SIZE, WIDEST), SIZE, ink.text, "end")]),
    ...shown.columns.flatMap((text, column) => {
      if (column % of.every) return [];
      const [x, y] = [of.left + (column + 0.5) * of.cell + SIZE * 0.35, down - 6];
      const made = words(x, y, shortened(text, SIZE, WIDEST), SIZE, ink.text);
      made.setAttribute("transform", `rotate(-90 ${round(x)} ${round(y)})`);
      return [made];
    }),
  ];
  const titled = title ? [words(12, 24, title, 16, ink.text, "start", 600)] : [];
  return sheet(Math.max(of.width + 16, title ? textWidth(title, 16, 600) + 24 : 0), of.height + head + 12, ground, ...titled, ...cells, ...labels);
}

export function asImage(image: ImageData): string {
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas.toDataURL("image/png");
}
