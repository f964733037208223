// What a model reads: a text, an image or a recording.

/** A file that was chosen, dropped, pasted or recorded. */
export interface Loaded {
  readonly name: string;
  readonly kind: string;
  readonly bytes: Uint8Array;
  readonly base64: string;
}

export type Source =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image"; readonly file: Loaded }
  | { readonly kind: "sound"; readonly file: Loaded };

/** Files up to this size go into the address, so that a view of them can be shared. */
export const MOST_SHARED = 12_000;
/** Larger files are not even read. */
const MOST_BYTES = 64 * 1024 * 1024;

export async function loaded(file: Blob, name: string): Promise<Loaded> {
  if (file.size > MOST_BYTES) throw new Error(`${name} is larger than 64 MiB; take a smaller file`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { name, kind: file.type, bytes, base64: toBase64(bytes) };
}

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let from = 0; from < bytes.length; from += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(from, from + 0x8000));
  }
  return btoa(text);
}

/** As it stands in an address. */
export function shared(file: Loaded): string | null {
  return file.bytes.length <= MOST_SHARED
    ? file.base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
    : null;
}

/** A file out of an address; nothing if it is none. */
export function fromShared(text: string, name: string): Loaded | null {
  try {
    const base64 = text.replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    return { name, kind: kindOf(bytes), bytes, base64: toBase64(bytes) };
  } catch {
    return null;
  }
}

/** What a file is, by its first bytes. */
export function kindOf(bytes: Uint8Array): string {
  const begins = (...with_: number[]): boolean => with_.every((byte, place) => bytes[place] === byte);
  if (begins(0x89, 0x50, 0x4e, 0x47)) return "image/png";
  if (begins(0xff, 0xd8, 0xff)) return "image/jpeg";
  if (begins(0x42, 0x4d)) return "image/bmp";
  if (begins(0x66, 0x4c, 0x61, 0x43)) return "audio/flac";
  if (begins(0x4f, 0x67, 0x67, 0x53)) return "audio/ogg";
  if (begins(0x52, 0x49, 0x46, 0x46)) return bytes[8] === 0x57 && bytes[9] === 0x41 ? "audio/wav" : "image/webp";
  return "application/octet-stream";
}

/** A recording as a WAV file of one channel and sixteen bits. */
export function toWav(samples: Float32Array, rate: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(44 + samples.length * 2);
  const view = new DataView(bytes.buffer);
  const word = (place: number, text: string): void => {
    for (let index = 0; index < text.length; index += 1) view.setUint8(place + index, text.charCodeAt(index));
  };
  word(0, "RIFF");
  view.setUint32(4, 36 + samples.length * 2, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, samples.length * 2, true);
  samples.forEach((sample, index) => {
    view.setInt16(44 + index * 2, Math.round(Math.max(-1, Math.min(1, sample)) * 32767), true);
  });
  return bytes;
}
