// What the service is asked, and what it answers: `/v1/models`, `/v1/predict`, `/v1/trace`, `/v1/runs`.

import { received, type Matrix, type SentMatrix } from "./matrix.js";
import { readEvents } from "./events.js";
import { receivedGrid, type Box, type Grid } from "./grid.js";

export type AttentionKind = "cross" | "pooling" | "encoder" | "decoder";

/** Heads that may be masked. */
export interface HeadCount {
  readonly attention: AttentionKind;
  readonly layers: number;
  readonly heads: number;
}

export interface ModelInfo {
  readonly name: string;
  readonly task: string;
  readonly reads: "texts" | "images" | "sounds";
  readonly languages?: { readonly source: string; readonly target: string };
  readonly parameters: number;
  readonly vocabularies: { readonly source: number; readonly target: number };
  readonly labels?: readonly string[];
  readonly attentions: readonly AttentionKind[];
  readonly heads?: readonly HeadCount[];
  readonly beam: number;
  readonly max_length: number;
  readonly load: number;
}

/** Whether a model writes of a source: there is a search to look into. */
export function writesOfSource(model: ModelInfo): boolean {
  return model.task === "translate" || model.task === "caption" || model.task === "transcribe";
}

/** Whether a model writes at all. */
export function writes(model: ModelInfo): boolean {
  return writesOfSource(model) || model.task === "language-model";
}

export interface MaskedHead {
  readonly attention: AttentionKind;
  readonly layer: number;
  readonly head: number;
}

/** What both `/v1/predict` and `/v1/trace` take. */
export interface Asked {
  readonly model: string;
  readonly text?: string;
  readonly image?: string;
  readonly sound?: string;
  readonly beam?: number;
  readonly max_length?: number;
  readonly search?: Readonly<Record<string, string | number>>;
  readonly prefix?: string;
  readonly prefix_tokens?: readonly number[];
  readonly must?: readonly string[];
  readonly never?: readonly string[];
  readonly mask?: readonly MaskedHead[];
}

export interface PredictRequest extends Asked {
  readonly n_best?: number;
  readonly sample?: Readonly<Record<string, number>>;
  readonly alternatives?: { readonly count: number; readonly at?: number };
}

export interface TraceRequest extends Asked {
  readonly target?: string;
  readonly heads?: boolean;
  readonly attention?: AttentionKind;
  readonly layer?: number;
  readonly attributions?: boolean;
  readonly beams?: { readonly n_best: number; readonly beside: number };
}

export interface Output {
  readonly text: string;
  readonly tokens: readonly string[];
  readonly ids?: readonly number[];
  readonly log_probabilities: readonly number[];
  readonly score: number;
  readonly normalised_score: number;
  readonly finished: boolean;
  readonly given?: number;
}

export interface SpokenWord {
  readonly word: string;
  readonly probability: number | null;
  readonly start?: number;
  readonly end?: number;
}

/** An answer of any task: which keys it has depends on that. */
export interface Answer extends Partial<Output> {
  readonly source?: string;
  readonly prompt?: string;
  readonly prompt_tokens?: readonly string[];
  readonly n_best?: readonly Output[];
  readonly alternatives?: readonly (Output & { readonly token: string; readonly probability: number })[];
  readonly label?: string;
  readonly confidence?: number;
  readonly probabilities?: Readonly<Record<string, number>>;
  readonly weights?: readonly number[];
  readonly words?: readonly string[] | readonly SpokenWord[];
  readonly labels?: readonly string[];
  readonly confidences?: readonly number[];
  readonly gaps?: readonly (readonly { readonly token: string; readonly probability: number }[])[];
  readonly seconds?: number;
  readonly pieces?: readonly { readonly start: number; readonly end: number; readonly text: string }[];
}

export interface PredictAnswer {
  readonly model: string;
  readonly task: string;
  readonly answers: readonly Answer[];
}

export interface Token {
  readonly text: string;
  /** The word that it is a piece of; nothing for the end. */
  readonly word: number | null;
  readonly id?: number;
}

export interface Heads {
  readonly kind: AttentionKind;
  readonly queries: readonly Token[];
  readonly keys: readonly Token[];
  readonly firstLayer: number;
  /** By layer and head. */
  readonly layers: readonly (readonly Matrix[])[];
  readonly classToken: boolean;
}

export type Fate =
  | "given" | "kept" | "finished" | "unfinished" | "dropped" | "beaten" | "forbidden" | "repeated" | "too-short"
  | "again" | "phrases";

export interface Candidate {
  readonly parent: number | null;
  readonly group: number;
  readonly token: string;
  readonly id?: number;
  readonly log_probability: number;
  readonly score: number;
  readonly fate: Fate;
  readonly rank?: number;
  readonly by?: number;
  readonly entropy?: number;
}

export interface Beams {
  readonly best: readonly Output[];
  readonly greedy: Output | null;
  readonly steps: readonly (readonly Candidate[])[];
  readonly first_entropy?: number;
}

export interface Times {
  readonly places: number;
  readonly step: number;
  readonly start: number;
}

export interface Trace {
  readonly model: string;
  readonly task: string;
  readonly text: string;
  readonly source: readonly Token[];
  readonly target: readonly Token[];
  readonly logProbabilities: readonly number[];
  readonly entropies?: readonly number[] | undefined;
  readonly weights: Matrix | null;
  readonly grid?: Grid | undefined;
  readonly timeline?: Times | undefined;
  readonly attentions: readonly Heads[];
  readonly attributions?: { readonly gradient: Matrix; readonly erasure: Matrix } | undefined;
  readonly beams?: Beams | undefined;
}

/** A trace as it is sent. */
interface SentTrace {
  readonly model: string;
  readonly task: string;
  readonly text: string;
  readonly source: readonly Token[];
  readonly target: readonly Token[];
  readonly log_probabilities: readonly number[];
  readonly entropies?: readonly number[];
  readonly weights: SentMatrix | null;
  readonly grid?: readonly [number, number];
  readonly covered?: Box;
  readonly timeline?: Times;
  readonly attentions: readonly {
    readonly kind: AttentionKind;
    readonly queries: readonly Token[];
    readonly keys: readonly Token[];
    readonly first_layer: number;
    readonly layers: readonly (readonly SentMatrix[])[];
    readonly class_token: boolean;
  }[];
  readonly attributions?: { readonly gradient: SentMatrix; readonly erasure: SentMatrix };
  readonly beams?: Beams;
}

function receivedTrace(sent: SentTrace): Trace {
  const { log_probabilities: logProbabilities, weights, grid, covered, attentions, attributions, ...rest } = sent;
  return {
    ...rest,
    logProbabilities,
    weights: weights === null ? null : received(weights),
    grid: grid && receivedGrid(grid, covered),
    attentions: attentions.map(({ kind, queries, keys, first_layer, layers, class_token }) => ({
      kind,
      queries,
      keys,
      firstLayer: first_layer,
      layers: layers.map((heads) => heads.map(received)),
      classToken: class_token,
    })),
    attributions: attributions && {
      gradient: received(attributions.gradient),
      erasure: received(attributions.erasure),
    },
  };
}

/** A refusal of the service, in its own words; status 0 is a service that does not answer. */
export class ServiceError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }

  /** Whether the service wants a key, or another one. */
  get wantsKey(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

/** Whether an error is only that nobody waits any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** How often a request is tried that finds the service full. */
const TRIES = 4;
const MOST_TRACES = 16;
/** Texts of more characters are traced compactly. */
const LONG = 800;

export class Service {
  /** The key, if the service has asked for one. */
  key = "";
  /** Told when a request waits because the service is full, and how many seconds. */
  whenFull: (seconds: number) => void = () => undefined;

  private readonly traces = new Map<string, Promise<Trace>>();

  private async ask(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = this.key ? { Authorization: `Bearer ${this.key}` } : {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const asked: RequestInit = { method: body === undefined ? "GET" : "POST", headers, cache: "no-store" };
    if (body !== undefined) asked.body = JSON.stringify(body);
    if (signal) asked.signal = signal;
    for (let tried = 1; ; tried += 1) {
      const response = await fetch(path, asked).catch((error: unknown) => {
        if (isAbort(error)) throw error;
        throw new ServiceError(0, "the service does not answer; is it running?");
      });
      if (response.ok) return response;
      if ((response.status === 429 || response.status === 503) && tried < TRIES) {
        const seconds = Math.min(30, Math.max(0.2, Number(response.headers.get("Retry-After")) || 1));
        this.whenFull(seconds);
        await response.body?.cancel();
        await pause(seconds * 1000, signal);
        continue;
      }
      const told: unknown = await response.json().catch(() => null);
      const message = typeof told === "object" && told !== null && "error" in told ? String(told.error) : "";
      throw new ServiceError(response.status, message || `the service answered with status ${response.status}`);
    }
  }

  /** What the service has: models, and whether it shows training runs. */
  async offers(): Promise<{ readonly models: readonly ModelInfo[]; readonly runs: boolean }> {
    return await this.get("/v1/models");
  }

  async predict(request: PredictRequest, signal?: AbortSignal): Promise<PredictAnswer> {
    return await (await this.ask("/v1/predict", request, signal)).json() as PredictAnswer;
  }

  /** Predicts for one source; tells of what is written so far. */
  async stream(request: PredictRequest, written: (text: string) => void, signal?: AbortSignal): Promise<Answer> {
    const response = await this.ask("/v1/predict", { ...request, stream: true }, signal);
    let answer: Answer | undefined;
    for await (const event of readEvents(response)) {
      const data = JSON.parse(event.data) as { text?: string; answer?: Answer; error?: string };
      if (event.name === "written") written(data.text ?? "");
      if (event.name === "answer") answer = data.answer;
      if (event.name === "error") throw new ServiceError(200, data.error ?? "the answer broke off");
    }
    if (!answer) throw new ServiceError(0, "the answer broke off; ask again");
    return answer;
  }

  /** Looks into a model. What has been seen lately is not asked again; nobody may change it. */
  async trace(request: TraceRequest, signal?: AbortSignal): Promise<Trace> {
    // A byte for each value is enough for colours. Where figures are computed, they are computed of what was sent in full.
    const compact = request.heads === true || (request.text?.length ?? 0) > LONG;
    const asked = compact ? { ...request, compact } : request;
    const key = JSON.stringify(asked);
    const known = this.traces.get(key);
    if (known) {
      this.traces.delete(key);
      this.traces.set(key, known);
      return known;
    }
    const answer = await this.ask("/v1/trace", asked, signal);
    const trace = receivedTrace(await answer.json() as SentTrace);
    this.traces.set(key, Promise.resolve(trace));
    for (const oldest of [...this.traces.keys()].slice(0, -MOST_TRACES)) this.traces.delete(oldest);
    return trace;
  }

  /** Forgets what it has seen: a model may have been replaced. */
  forget(): void {
    this.traces.clear();
  }

  /** Anything else that is read: runs, for instance. */
  async get<Found>(path: string, signal?: AbortSignal): Promise<Found> {
    return await (await this.ask(path, undefined, signal)).json() as Found;
  }
}

export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = (): void => {
      clearTimeout(timer);
      reject(new DOMException("nobody waits any more", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", over);
      resolve();
    }, milliseconds);
    if (signal?.aborted) over();
    else signal?.addEventListener("abort", over, { once: true });
  });
}

/** One piece of work at a time: a new one calls the older off. */
export class Latest {
  private controller: AbortController | undefined;

  /** Works behind a pause; what is called off comes to nothing. */
  async run<Found>(
    work: (signal: AbortSignal) => Promise<Found>,
    done: (found: Found) => void,
    failed: (error: unknown) => void,
    delay = 0,
  ): Promise<void> {
    this.stop();
    const controller = new AbortController();
    this.controller = controller;
    try {
      if (delay > 0) await pause(delay, controller.signal);
      const found = await work(controller.signal);
      if (!controller.signal.aborted) done(found);
    } catch (error) {
      if (!controller.signal.aborted && !isAbort(error)) failed(error);
    }
  }

  stop(): void {
    this.controller?.abort();
    this.controller = undefined;
  }
}
