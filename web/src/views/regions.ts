// An image with its regions: a word lights the regions that it looked at, a region the words that looked there.

import { drawn, element } from "../dom.js";
import { regionAt, regionBeside, regionBox, regionCount, type Grid } from "../grid.js";
import { imageAddress } from "../input.js";
import { column, largest, matrix, row } from "../matrix.js";
import { weight } from "../numbers.js";
import { sheet, shortened, words } from "../picture.js";
import { colour, hex, inks, type Ground } from "../scale.js";
import { toBase64, type Loaded } from "../source.js";
import { sized } from "../wave.js";
import { dressed, type Light, type Stage, type StageEvents } from "./stage.js";
import type { Scene } from "./scene.js";
import { tokenRow } from "./token-row.js";

const LARGEST = 400;

export function regions(file: Loaded, grid: Grid, events: StageEvents): Stage {
  let scene: Scene | null = null;
  let ground: Ground = "light";
  let light: Light | null = null;
  let cursor = 0;
  const image = new Image();
  const address = imageAddress(file);
  image.src = address;
  image.decode().then(() => paint(), () => paint());

  const rows = tokenRow("row", events, () => false);
  const canvas = element("canvas", {
    class: "regions-picture",
    with: { tabindex: 0, role: "application", "aria-label": "The image; arrow keys move over its regions" },
  });
  const title = element("h3", { class: "side" });
  const aside = element("div", { class: "side-box" }, title, rows.whole);
  const whole = element("div", { class: "regions" }, element("div", { class: "regions-frame" }, canvas), aside);

  const size = (): readonly [number, number] => {
    const [width, height] = [image.naturalWidth || 1, image.naturalHeight || 1];
    const most = Math.min(LARGEST, whole.clientWidth || LARGEST);
    const shrunk = Math.min(most / width, LARGEST / height);
    return [width * shrunk, height * shrunk];
  };
  const under = (event: PointerEvent): number => {
    const frame = canvas.getBoundingClientRect();
    return regionAt(grid, (event.clientX - frame.left) / frame.width, (event.clientY - frame.top) / frame.height);
  };

  canvas.addEventListener("pointermove", (event) => {
    const index = under(event);
    events.point(index < 0 ? null : { side: "column", index });
  });
  canvas.addEventListener("pointerleave", () => events.point(null));
  canvas.addEventListener("click", (event) => {
    const index = under(event as PointerEvent);
    if (index >= 0) events.pin({ side: "column", index });
  });
  canvas.addEventListener("focus", () => {
    if (canvas.matches(":focus-visible")) events.point({ side: "column", index: cursor });
  });
  canvas.addEventListener("blur", () => events.point(null));
  canvas.addEventListener("keydown", (event) => {
    const to = regionBeside(grid, cursor, event.key);
    if (event.key === "Enter" || event.key === " ") events.pin({ side: "column", index: cursor });
    else if (to === null) return;
    else cursor = to;
    event.preventDefault();
    events.point({ side: "column", index: cursor });
  });
  const watcher = new ResizeObserver(() => paint());
  watcher.observe(whole);

  /** How strong each region is lit. */
  function heat(): { readonly values: Float32Array; readonly limit: number } | null {
    if (!scene || light?.side === "column") return null;
    // With one row there is nothing to choose.
    const index = light?.index ?? (scene.rows.length === 1 ? 0 : -1);
    if (index < 0) return null;
    const values = row(scene.matrix, index);
    return { values, limit: largest(values) || 1 };
  }

  function paint(): void {
    const [width, height] = size();
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = sized(canvas, width, height);
    if (!context || !scene) return;
    context.imageSmoothingEnabled = image.naturalWidth > width;
    if (image.naturalWidth > 0) context.drawImage(image, 0, 0, width, height);
    const found = heat();
    const ink = inks(ground);
    for (let index = 0; index < regionCount(grid); index += 1) {
      const [x, y, wide, high] = regionBox(grid, index, width, height);
      if (found) {
        const part = (found.values[index] ?? 0) / found.limit;
        context.globalAlpha = 0.35 + 0.45 * Math.abs(part);
        context.fillStyle = hex(colour(scene.scale, part, ground));
        context.fillRect(x, y, wide, high);
        context.globalAlpha = 1;
      }
      context.strokeStyle = "rgba(128,128,128,0.35)";
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, wide - 1, high - 1);
    }
    if (found) {
      const strongest = found.values.indexOf(largest(found.values));
      if (strongest >= 0) framed(context, strongest, width, height, ink.text);
    }
    if (light?.side === "column") framed(context, light.index, width, height, ink.mark);
  }

  function framed(context: CanvasRenderingContext2D, index: number, width: number, height: number, stroke: string): void {
    const [x, y, wide, high] = regionBox(grid, index, width, height);
    context.lineWidth = 5;
    context.strokeStyle = inks(ground).ground;
    context.strokeRect(x, y, wide, high);
    context.lineWidth = 2.5;
    context.strokeStyle = stroke;
    context.strokeRect(x, y, wide, high);
  }

  return {
    whole,
    aside,
    show(next, on) {
      scene = next;
      ground = on;
      title.textContent = next.sides.rows;
      rows.show(next.rows, next.sides.rows);
      paint();
    },
    light(next, pinned) {
      light = next;
      if (next?.side === "column") cursor = next.index;
      if (!scene) return;
      // A part is one of many: it is judged beside the strongest of all, so that words can be compared.
      rows.dress(dressed(scene, "row", next, largest(scene.matrix) || 1, ground), next, pinned);
      paint();
    },
    picture() {
      const now = scene ?? { rows: [], columns: [], matrix: matrix(0, 0), scale: "share" as const };
      const ink = inks(ground);
      const side = 200;
      const [width, height] = size();
      const [wide, high] = [side, (side * height) / width];
      const across = Math.max(1, Math.min(4, now.rows.length));
      const href = `data:${file.kind};base64,${toBase64(file.bytes)}`;
      const shown = light?.side === "row" ? [light.index] : now.rows.map((_, index) => index);
      const parts = shown.flatMap((index, place) => {
        const [left, top] = [24 + (place % across) * (wide + 20), 24 + Math.floor(place / across) * (high + 40)];
        const values = light?.side === "column" ? column(now.matrix, light.index) : row(now.matrix, index);
        const limit = largest(values) || 1;
        const cells = light?.side === "column" ? [] : Array.from(values, (value, region) => {
          const [x, y, w, h] = regionBox(grid, region, wide, high);
          return drawn("rect", {
            x: left + x, y: top + 22 + y, width: w, height: h,
            fill: hex(colour(now.scale, value / limit, ground)), "fill-opacity": 0.35 + 0.45 * Math.abs(value / limit),
          });
        });
        const told = light?.side === "column" ? ` ${weight(values[index] ?? 0)}` : "";
        return [
          words(left, top + 14, shortened(`${now.rows[index]?.text ?? ""}${told}`, 15, wide), 15, ink.text),
          drawn("image", { href, x: left, y: top + 22, width: wide, height: high, preserveAspectRatio: "none" }),
          ...cells,
        ];
      });
      const lines = Math.ceil(shown.length / across);
      return sheet(48 + across * (wide + 20) - 20, 48 + lines * (high + 40), ground, ...parts);
    },
    close() {
      watcher.disconnect();
      URL.revokeObjectURL(address);
    },
  };
}
