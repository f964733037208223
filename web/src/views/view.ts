// What a view is: a tab of the page, which shows one side of a model.

import type { Change, State } from "../address.js";
import type { Asked, ModelInfo, Service } from "../api.js";
import type { Exported } from "../export.js";
import type { Ground } from "../scale.js";
import type { Source } from "../source.js";

/** All that a view may know and do. Values are those of the moment: `update` brings new ones. */
export interface Context {
  readonly service: Service;
  /** The model that is chosen; nothing where the service has none. */
  readonly model: ModelInfo | null;
  readonly state: State;
  /** What the model is to read; nothing before there is something. */
  readonly source: Source | null;
  readonly ground: Ground;
  /** Changes the state, and with it the address. `push` makes a step that the browser goes back over. */
  change(change: Change, how?: "push" | "replace"): void;
  /** Tells readers who listen. */
  announce(text: string): void;
  /** A request for the model and the source, to be completed; nothing where there is none. */
  asked(): Asked | null;
  /** Told whenever `exported` would answer something else. */
  exportable(): void;
}

/** A view that is open. */
export interface Mounted {
  /** The state, the source, the model or the ground is another. Called at least once, after `mount`. */
  update(context: Context): void;
  /** What is to be seen now, to be saved; nothing where nothing is. */
  exported(): Exported | null;
  /** The view is closed: calls off what it waits for. */
  unmount(): void;
}

export interface View {
  /** Its name in the address. */
  readonly id: string;
  readonly title: string;
  /** Whether it needs a source above it. */
  readonly reads: boolean;
  /** Whether it has something to show for a model, or for a service that shows training runs. */
  suits(model: ModelInfo | null, runs: boolean): boolean;
  mount(container: HTMLElement, context: Context): Mounted;
}
