// What a model makes of a source, in a form in which two of them can be compared, whatever the model does.

import { writesOfSource, type Asked, type ModelInfo, type Service, type Token, type Trace } from "../api.js";
import { places, plain } from "../tokens.js";

/** A word of an output. */
export interface Said {
  readonly text: string;
  /** log p of it, where that is known. */
  readonly log: number | null;
}

export interface Outcome {
  readonly text: string;
  readonly said: readonly Said[];
  /** log p of the whole output. */
  readonly log: number | null;
  /** How probable each label is. */
  readonly shares: readonly (readonly [label: string, share: number])[];
  /** What the model looked at. */
  readonly trace: Trace | null;
}

/** Asks for one outcome. */
export async function outcome(service: Service, model: ModelInfo, request: Asked, signal: AbortSignal): Promise<Outcome> {
  if (writesOfSource(model)) return written(await service.trace(request, signal));
  const looks = model.attentions.includes("pooling");
  const [answered, trace] = await Promise.all([
    service.predict(request, signal),
    looks ? service.trace(request, signal) : Promise.resolve(null),
  ]);
  const answer = answered.answers[0];
  if (!answer) throw new Error("the service answered nothing");
  if (answer.label !== undefined) {
    const shares = Object.entries(answer.probabilities ?? { [answer.label]: answer.confidence ?? 1 });
    return {
      text: answer.label,
      said: [{ text: answer.label, log: answer.confidence === undefined ? null : Math.log(answer.confidence) }],
      log: null,
      shares: shares.sort((one, other) => other[1] - one[1]),
      trace,
    };
  }
  if (answer.labels) {
    const words = (answer.words ?? []) as readonly string[];
    const said = answer.labels.map((label, place) => ({
      text: `${words[place] ?? ""}/${label}`,
      log: answer.confidences?.[place] === undefined ? null : Math.log(answer.confidences[place]),
    }));
    return { text: said.map(({ text }) => text).join(" "), said, log: null, shares: [], trace };
  }
  const text = answer.text ?? "";
  const said = answer.tokens
    ? answer.tokens.map((token, place) => ({ text: token, log: answer.log_probabilities?.[place] ?? null }))
    : text.split(/\s+/).filter(Boolean).map((word) => ({ text: word, log: null }));
  return { text, said, log: answer.score ?? null, shares: [], trace };
}

/** An output that was traced: its words, each with log p of its pieces. */
export function written(trace: Trace): Outcome {
  const sum = (of: readonly number[]): number => of.reduce((total, place) => total + (trace.logProbabilities[place] ?? 0), 0);
  const words = places(trace.target, { hideEnd: true, words: true });
  const ended = trace.target.length === 1 && trace.target[0]?.word === null;
  return {
    text: trace.text,
    said: ended ? [] : words.map(({ text, tokens }) => ({ text, log: sum(tokens) })),
    log: trace.logProbabilities.length > 0 ? sum(trace.target.map((_, place) => place)) : null,
    shares: [],
    trace,
  };
}

/** The words of a source that can be changed, as the model reads them. */
export function readWords(source: readonly Token[], pieces: boolean): string[] {
  if (source.length === 1 && source[0]?.word === null) return [];
  return places(source, { hideEnd: true, words: !pieces }).map(({ text }) => plain(text));
}
