// Stretches of a WAV file made silent, byte for byte, so that nothing else of the recording changes.

import type { Stretch } from "./whatif-changes.js";

interface Wave {
  readonly rate: number;
  /** Bytes of one sample of all channels. */
  readonly frame: number;
  readonly bits: number;
  /** Where the samples stand. */
  readonly from: number;
  readonly to: number;
}

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

/** What a WAV file says of itself; nothing where it is none, or one of another kind. */
export function wave(bytes: Uint8Array): Wave | null {
  if (bytes.length < 12) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (place: number): string => String.fromCharCode(...bytes.subarray(place, place + 4));
  if (word(0) !== "RIFF" || word(8) !== "WAVE") return null;
  let format: { rate: number; frame: number; bits: number } | null = null;
  for (let place = 12; place + 8 <= bytes.length;) {
    const size = view.getUint32(place + 4, true);
    const inside = place + 8;
    if (word(place) === "fmt " && size >= 16 && inside + size <= bytes.length) {
      const kind = view.getUint16(inside, true);
      const told = kind === EXTENSIBLE && size >= 26 ? view.getUint16(inside + 24, true) : kind;
      if (told !== PCM && told !== FLOAT) return null;
      format = { rate: view.getUint32(inside + 4, true), frame: view.getUint16(inside + 12, true), bits: view.getUint16(inside + 14, true) };
    }
    if (word(place) === "data") {
      if (!format || format.rate === 0 || format.frame === 0) return null;
      return { ...format, from: inside, to: Math.min(bytes.length, inside + size) };
    }
    place = inside + size + (size % 2);
  }
  return null;
}

/** A copy with silent stretches; nothing where the file is no such WAV file. */
export function muted(bytes: Uint8Array, stretches: readonly Stretch[]): Uint8Array | null {
  const found = wave(bytes);
  if (!found) return null;
  const made = bytes.slice();
  const frames = Math.floor((found.to - found.from) / found.frame);
  for (const { from, to } of stretches) {
    const first = Math.max(0, Math.min(frames, Math.round(from * found.rate)));
    const last = Math.max(first, Math.min(frames, Math.round(to * found.rate)));
    // Eight bits have their middle at 128, all others at nought.
    made.fill(found.bits === 8 ? 128 : 0, found.from + first * found.frame, found.from + last * found.frame);
  }
  return made;
}
