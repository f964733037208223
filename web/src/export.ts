// Views as files: what is seen as SVG or PNG, what is behind it as JSON.

import { inks, type Ground } from "./scale.js";

export interface Exported {
  /** The name of the file, without its ending. */
  readonly name: string;
  /** The picture, with a width and a height and everything that it needs; nothing where there is none. */
  readonly picture: SVGSVGElement | null;
  /** What is behind it. */
  readonly data: unknown;
}

/** How many dots of a PNG there are for one of the page, unless it would be too large. */
const SHARPNESS = 2;
const MOST_DOTS = 40e6;

export function saveJson(exported: Exported): void {
  save(new Blob([`${JSON.stringify(exported.data, asLists, 1)}\n`], { type: "application/json" }), `${exported.name}.json`);
}

function asLists(_key: string, value: unknown): unknown {
  return value instanceof Float32Array ? Array.from(value, (number) => Number(number.toPrecision(6))) : value;
}

export function saveSvg(exported: Exported): void {
  if (exported.picture) save(asBlob(exported.picture), `${exported.name}.svg`);
}

export async function savePng(exported: Exported, ground: Ground): Promise<void> {
  if (exported.picture) save(await asPng(exported.picture, ground), `${exported.name}.png`);
}

function asBlob(picture: SVGSVGElement): Blob {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(picture)}\n`;
  return new Blob([text], { type: "image/svg+xml" });
}

async function asPng(picture: SVGSVGElement, ground: Ground): Promise<Blob> {
  const width = Number(picture.getAttribute("width"));
  const height = Number(picture.getAttribute("height"));
  const sharpness = Math.min(SHARPNESS, Math.sqrt(MOST_DOTS / Math.max(1, width * height)));
  const address = URL.createObjectURL(asBlob(picture));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(width * sharpness));
    canvas.height = Math.max(1, Math.round(height * sharpness));
    const context = canvas.getContext("2d");
    if (!context) throw new Error("the browser cannot draw");
    context.fillStyle = inks(ground).ground;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
