// Two texts, with ribbons from what looks to what is looked at. In two rows where they fit, in two columns where they do
// not. Tokens are buttons; ribbons are painted on a canvas that stands still while the tokens scroll below it, so that a
// text of hundreds of tokens costs no more than what can be seen.

import { element } from "../dom.js";
import { textWidth } from "../picture.js";
import { colour, hex, type Ground } from "../scale.js";
import { sized } from "../wave.js";
import { ribbonsPicture } from "./ribbons-picture.js";
import { dressed, litRibbons, ribbonsOf, type Light, type Ribbon, type Stage, type StageEvents } from "./stage.js";
import { MANY, type Scene } from "./scene.js";
import { tokenRow } from "./token-row.js";

/** Ribbons that are drawn at most. */
const MOST = 1500;

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Ribbons extends Stage {
  threshold(value: number): void;
}

export function ribbons(events: StageEvents): Ribbons {
  let scene: Scene | null = null;
  let ground: Ground = "light";
  let light: Light | null = null;
  let least = 0.05;
  let upright = false;
  let tops: Point[] = [];
  let bottoms: Point[] = [];
  let waiting = 0;
  let all: Ribbon[] | null = null;

  const columns = tokenRow("column", events, () => upright);
  const rows = tokenRow("row", events, () => upright);
  const upper = element("h3", { class: "side" });
  const lower = element("h3", { class: "side" });
  const scroller = element("div", { class: "ribbons-scroll" },
    element("div", { class: "ribbons-inner" },
      element("div", { class: "side-box" }, upper, columns.whole), element("div", { class: "between" }),
      element("div", { class: "side-box" }, lower, rows.whole)));
  const canvas = element("canvas", { with: { "aria-hidden": "true" } });
  const whole = element("div", { class: "ribbons" }, scroller, canvas);

  scroller.addEventListener("scroll", paintSoon, { passive: true });
  const watcher = new ResizeObserver(() => arrange());
  watcher.observe(whole);

  function paintSoon(): void {
    if (waiting === 0) waiting = requestAnimationFrame(() => {
      waiting = 0;
      paint();
    });
  }

  /** Rows or columns, by what fits; then where every token is. */
  function arrange(): void {
    if (!scene) return;
    const wide = (places: Scene["rows"]): number =>
      places.reduce((total, { text }) => total + Math.min(208, Math.max(44, textWidth(text, 16) + 22)) + 6, 0);
    upright = Math.max(wide(scene.rows), wide(scene.columns)) > whole.clientWidth;
    whole.classList.toggle("upright", upright);
    const frame = scroller.getBoundingClientRect();
    const [left, top] = [frame.left - scroller.scrollLeft, frame.top - scroller.scrollTop];
    const anchors = (buttons: readonly HTMLElement[], first: boolean): Point[] => buttons.map((one) => {
      const box = one.getBoundingClientRect();
      return upright
        ? { x: (first ? box.right : box.left) - left, y: (box.top + box.bottom) / 2 - top }
        : { x: (box.left + box.right) / 2 - left, y: (first ? box.bottom : box.top) - top };
    });
    tops = anchors(columns.buttons(), true);
    bottoms = anchors(rows.buttons(), false);
    paintSoon();
  }

  function paint(): void {
    if (!scene) return;
    const { clientWidth: width, clientHeight: height } = scroller;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = sized(canvas, width, height);
    if (!context) return;
    if (!all) all = ribbonsOf(scene, least, MOST);
    const now = light;
    const rest = now ? all.filter((one) => (now.side === "row" ? one.row : one.column) !== now.index) : all;
    // Of many ribbons, those that are not lit would be a haze.
    if (!now || tops.length <= MANY) for (const one of rest) stroke(context, one, now ? 0.07 : null, width, height);
    // What is lit lies on top.
    if (now) for (const one of litRibbons(scene, now, least)) stroke(context, one, null, width, height);
  }

  function stroke(context: CanvasRenderingContext2D, one: Ribbon, dim: number | null, width: number, height: number): void {
    const [start, end] = [tops[one.column], bottoms[one.row]];
    const [dx, dy] = [scroller.scrollLeft, scroller.scrollTop];
    if (!scene || !start || !end || !near(start, end, dx, dy, width, height)) return;
    const size = Math.abs(one.part);
    context.globalAlpha = dim ?? 0.25 + 0.7 * size;
    context.strokeStyle = hex(colour(scene.scale, Math.sign(one.part) * (0.55 + 0.3 * size), ground));
    context.lineWidth = 1 + 9 * size;
    context.setLineDash(one.part < 0 ? [6, 4] : []);
    context.beginPath();
    context.moveTo(start.x - dx, start.y - dy);
    if (upright) {
      const middle = (start.x + end.x) / 2 - dx;
      context.bezierCurveTo(middle, start.y - dy, middle, end.y - dy, end.x - dx, end.y - dy);
    } else {
      const middle = (start.y + end.y) / 2 - dy;
      context.bezierCurveTo(start.x - dx, middle, end.x - dx, middle, end.x - dx, end.y - dy);
    }
    context.stroke();
  }

  function dress(pinned: Light | null): void {
    if (!scene) return;
    columns.dress(dressed(scene, "column", light, null, ground), light, pinned);
    rows.dress(dressed(scene, "row", light, null, ground), light, pinned);
    paintSoon();
  }

  return {
    whole,
    show(next, on) {
      const again = scene !== null && scene.rows === next.rows && scene.columns === next.columns;
      scene = next;
      ground = on;
      all = null;
      upper.textContent = next.sides.columns;
      lower.textContent = next.sides.rows;
      columns.show(next.columns, next.sides.columns);
      rows.show(next.rows, next.sides.rows);
      if (!again) arrange();
      paintSoon();
    },
    light(next, pinned) {
      light = next;
      dress(pinned);
    },
    threshold(value) {
      if (value !== least) all = null;
      least = value;
      paintSoon();
    },
    picture: () => ribbonsPicture(scene as Scene, light, least, MOST, ground),
    close() {
      cancelAnimationFrame(waiting);
      watcher.disconnect();
    },
  };
}

/** Whether a ribbon can be seen. */
function near(start: Point, end: Point, dx: number, dy: number, width: number, height: number): boolean {
  return Math.max(start.y, end.y) >= dy - 8 && Math.min(start.y, end.y) <= dy + height + 8 &&
    Math.max(start.x, end.x) >= dx - 8 && Math.min(start.x, end.x) <= dx + width + 8;
}
