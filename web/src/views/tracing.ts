// Asks for traces, as several views do: once for each request that differs from the last, and the latest wins.

import { Latest, type Trace, type TraceRequest } from "../api.js";
import { empty, invitation, trouble } from "../trouble.js";
import type { Context } from "./view.js";

/** Milliseconds without a keystroke before something that is typed is asked. */
const REST = 250;

/** What a view does with what it asks. */
export interface Viewer {
  /** Where a trace is shown; it says that one is waited for. */
  readonly place: HTMLElement;
  /** Says something in place of a trace. */
  say(what: HTMLElement): void;
  /** Shows a trace that has come. */
  show(trace: Trace): void;
  /** Shows the last one again: it is what is wanted still. */
  again(): void;
}

export class Tracing {
  private readonly latest = new Latest();
  private asked = "";
  private typed = "";

  constructor(private readonly viewer: Viewer) {}

  /** Asks, or invites to give something to ask about. `typed` is that part of the request which is typed: what else differs is asked at once. */
  ask(context: Context, request: TraceRequest | null, typed: unknown): void {
    const { model } = context;
    const { place, say, show, again } = this.viewer;
    if (!model || !request) {
      this.stop();
      this.asked = "";
      say(empty(invitation(model?.reads ?? "texts")));
      return;
    }
    const key = JSON.stringify([request, model.load]);
    if (key === this.asked) {
      again();
      return;
    }
    const before = this.typed;
    this.typed = JSON.stringify(typed);
    const rest = this.asked !== "" && this.typed !== before ? REST : 0;
    this.asked = key;
    place.classList.add("waiting");
    void this.latest.run((signal) => context.service.trace(request, signal), show, (error) => say(trouble(error, () => {
      this.asked = "";
      this.ask(context, request, typed);
    })), rest);
  }

  stop(): void {
    this.latest.stop();
  }
}
