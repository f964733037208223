// An image whose regions are painted over with grey, by the pointer or the keyboard.

import { element } from "../dom.js";
import { regionAt, regionBeside, regionBox, regionCount, regionName, type Grid } from "../grid.js";
import { imageAddress } from "../input.js";
import { inks, type Ground } from "../scale.js";
import { toBase64, type Loaded } from "../source.js";
import { sized } from "../wave.js";

const LARGEST = 360;
const GREY = "#808080";

export interface ImageChanges {
  readonly whole: HTMLElement;
  show(file: Loaded, grid: Grid, grey: readonly number[], ground: Ground): void;
}

async function opened(file: Loaded): Promise<HTMLImageElement> {
  const image = new Image();
  const address = imageAddress(file);
  image.src = address;
  try {
    await image.decode();
  } finally {
    URL.revokeObjectURL(address);
  }
  return image;
}

/** The image as a file, with regions painted over. */
export async function greyed(file: Loaded, grid: Grid, grey: readonly number[]): Promise<string> {
  const image = await opened(file);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext("2d");
  if (!context) throw new Error("the browser cannot draw");
  context.drawImage(image, 0, 0);
  context.fillStyle = GREY;
  for (const index of grey) {
    const [x, y, wide, high] = regionBox(grid, index, canvas.width, canvas.height);
    const [left, top] = [Math.round(x), Math.round(y)];
    context.fillRect(left, top, Math.round(x + wide) - left, Math.round(y + high) - top);
  }
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("the image is too large");
  return toBase64(new Uint8Array(await blob.arrayBuffer()));
}

export function imageChanges(paint: (regions: readonly number[], on: boolean) => void): ImageChanges {
  let file: Loaded | null = null;
  let image: HTMLImageElement | null = null;
  let grid: Grid = { rows: 1, columns: 1, covered: [0, 0, 1, 1] };
  let grey = new Set<number>();
  let ground: Ground = "light";
  let cursor = 0;
  /** What a stroke does, and what it has passed over. */
  let stroke: { readonly on: boolean; readonly over: Set<number> } | null = null;

  const canvas = element("canvas", {
    class: "regions-picture",
    with: { tabindex: 0, role: "application", "aria-label": "The image; arrow keys move over its regions, Space paints one over" },
  });
  const told = element("p", { class: "quiet" }, "Paint over regions with the pointer, or move over them with the arrow keys and press Space.");
  const whole = element("section", { class: "whatif-image", with: { "aria-label": "Changes of the image" } }, canvas, told);

  const under = (event: PointerEvent): number => {
    const frame = canvas.getBoundingClientRect();
    return regionAt(grid, (event.clientX - frame.left) / frame.width, (event.clientY - frame.top) / frame.height);
  };

  function draw(): void {
    if (!image) return;
    const shrunk = Math.min(LARGEST / image.naturalWidth, LARGEST / image.naturalHeight, (whole.clientWidth || LARGEST) / image.naturalWidth);
    const [width, height] = [image.naturalWidth * shrunk, image.naturalHeight * shrunk];
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = sized(canvas, width, height);
    if (!context) return;
    context.imageSmoothingEnabled = image.naturalWidth > width;
    context.drawImage(image, 0, 0, width, height);
    for (let index = 0; index < regionCount(grid); index += 1) {
      const [x, y, wide, high] = regionBox(grid, index, width, height);
      const painted = stroke?.over.has(index) ? stroke.on : grey.has(index);
      if (painted) {
        context.fillStyle = GREY;
        context.fillRect(x, y, wide, high);
        context.strokeStyle = "#000000";
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(x + wide, y + high);
        context.stroke();
      }
      context.strokeStyle = "rgba(128,128,128,0.5)";
      context.strokeRect(x + 0.5, y + 0.5, wide - 1, high - 1);
    }
    if (document.activeElement === canvas && canvas.matches(":focus-visible")) {
      const [x, y, wide, high] = regionBox(grid, cursor, width, height);
      context.lineWidth = 3;
      context.strokeStyle = inks(ground).mark;
      context.strokeRect(x, y, wide, high);
      context.lineWidth = 1;
    }
  }

  canvas.addEventListener("pointerdown", (event) => {
    const index = under(event);
    if (index < 0 || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    stroke = { on: !grey.has(index), over: new Set([index]) };
    draw();
  });
  canvas.addEventListener("pointermove", (event) => {
    const index = stroke ? under(event) : -1;
    if (index < 0 || stroke?.over.has(index)) return;
    stroke?.over.add(index);
    draw();
  });
  const lift = (): void => {
    const done = stroke;
    stroke = null;
    if (done) paint([...done.over], done.on);
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", () => {
    stroke = null;
    draw();
  });
  canvas.addEventListener("focus", draw);
  canvas.addEventListener("blur", draw);
  canvas.addEventListener("keydown", (event) => {
    const to = regionBeside(grid, cursor, event.key);
    if (event.key === " " || event.key === "Enter") paint([cursor], !grey.has(cursor));
    else if (to === null) return;
    else cursor = to;
    event.preventDefault();
    told.textContent = `At ${regionName(grid, cursor)}.`;
    draw();
  });

  return {
    whole,
    show(next, over, painted, on) {
      grid = over;
      grey = new Set(painted);
      ground = on;
      cursor = Math.min(cursor, regionCount(grid) - 1);
      if (next !== file) {
        file = next;
        image = null;
        opened(next).then((found) => {
          if (file !== next) return;
          image = found;
          draw();
        }, () => { told.textContent = "The browser cannot show this image."; });
      }
      draw();
    },
  };
}
