// Recordings in the page: decoded to be drawn, played with a cursor, taken from the microphone.

import { loaded, toWav, type Loaded } from "./source.js";

let shared: AudioContext | undefined;

/** Made when it is first needed: browsers only let it play after a gesture. */
function audio(): AudioContext {
  shared ??= new AudioContext();
  return shared;
}

const known = new WeakMap<Loaded, Promise<AudioBuffer>>();

/** The samples of a file, as the browser reads it. */
export function decoded(file: Loaded): Promise<AudioBuffer> {
  let found = known.get(file);
  if (!found) {
    // The bytes that are decoded are taken away, so a copy is given.
    found = audio().decodeAudioData(file.bytes.slice().buffer);
    known.set(file, found);
  }
  return found;
}

/** The least and the largest sample of each of so many stretches, of the first channel. */
export function envelope(samples: Float32Array, stretches: number): { readonly low: Float32Array; readonly high: Float32Array } {
  const [low, high] = [new Float32Array(stretches), new Float32Array(stretches)];
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const from = Math.floor((stretch * samples.length) / stretches);
    const to = Math.max(from + 1, Math.floor(((stretch + 1) * samples.length) / stretches));
    for (const sample of samples.subarray(from, to)) {
      if (sample < (low[stretch] as number)) low[stretch] = sample;
      if (sample > (high[stretch] as number)) high[stretch] = sample;
    }
  }
  return { low, high };
}

/** Plays a recording, and tells where it is. */
export class Player {
  private playing: AudioBufferSourceNode | undefined;
  private began = 0;
  private from = 0;

  constructor(private readonly changed: () => void) {}

  get isPlaying(): boolean {
    return this.playing !== undefined;
  }

  /** Where it is, in seconds. */
  get time(): number {
    return this.playing ? this.from + audio().currentTime - this.began : 0;
  }

  async play(buffer: AudioBuffer, from = 0, to = buffer.duration): Promise<void> {
    this.stop();
    await audio().resume();
    const node = audio().createBufferSource();
    node.buffer = buffer;
    node.connect(audio().destination);
    node.addEventListener("ended", () => {
      if (this.playing === node) this.stop();
    });
    this.began = audio().currentTime;
    this.from = from;
    this.playing = node;
    node.start(0, from, Math.max(0.01, to - from));
    this.changed();
  }

  stop(): void {
    const node = this.playing;
    this.playing = undefined;
    node?.stop();
    node?.disconnect();
    if (node) this.changed();
  }
}

/** Whether the browser lets a page listen at all. */
export function canRecord(): boolean {
  return typeof MediaRecorder !== "undefined" && Boolean(navigator.mediaDevices?.getUserMedia);
}

/** What the service reads well. */
const RATE = 16_000;

/** Listens until it is told to stop; the recording is a WAV file, whatever the browser records. */
export async function record(): Promise<{ stop(): Promise<Loaded> }> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream);
  const parts: Blob[] = [];
  recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
  recorder.start();
  return {
    async stop() {
      const ended = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
      recorder.stop();
      await ended;
      for (const track of stream.getTracks()) track.stop();
      const buffer = await audio().decodeAudioData(await new Blob(parts).arrayBuffer());
      const offline = new OfflineAudioContext(1, Math.max(1, Math.ceil(buffer.duration * RATE)), RATE);
      const node = offline.createBufferSource();
      node.buffer = buffer;
      node.connect(offline.destination);
      node.start();
      const samples = (await offline.startRendering()).getChannelData(0);
      return loaded(new Blob([toWav(samples, RATE)], { type: "audio/wav" }), "recording.wav");
    },
  };
}
