// The whole state of the page as the part of the address behind `#`, so that every view can be shared and the browser's
// way back works: `#/attention?model=en-it&text=the+cat&heads=max`.

export interface State {
  /** The view that is open; nothing is the first that suits the model. */
  readonly view: string;
  /** The model's name; nothing is the first. */
  readonly model: string;
  readonly text: string;
  /** Everything else, where it is not as it would be anyway. */
  readonly options: ReadonlyMap<string, string>;
}

export const EMPTY: State = { view: "", model: "", text: "", options: new Map() };

/** Longer addresses are not ours. */
const MOST = 200_000;

const OWN = new Set(["model", "text"]);

/** The state that an address tells; what makes no sense in it is left out. */
export function parse(hash: string): State {
  const bare = hash.replace(/^#\/?/, "");
  if (bare.length > MOST) return EMPTY;
  const cut = bare.indexOf("?");
  const view = cut < 0 ? bare : bare.slice(0, cut);
  const found = new URLSearchParams(cut < 0 ? "" : bare.slice(cut + 1));
  const options = new Map<string, string>();
  for (const [key, value] of found) {
    if (!OWN.has(key) && /^[a-z][a-z0-9.-]*$/.test(key)) options.set(key, value);
  }
  return {
    view: /^[a-z-]*$/.test(view) ? view : "",
    model: found.get("model") ?? "",
    text: found.get("text") ?? "",
    options,
  };
}

/** The address of a state; equal states have equal addresses. */
export function format(state: State): string {
  const told = new URLSearchParams();
  if (state.model) told.set("model", state.model);
  if (state.text) told.set("text", state.text);
  for (const key of [...state.options.keys()].sort()) {
    const value = state.options.get(key);
    if (value !== undefined) told.set(key, value);
  }
  const query = told.toString();
  return `#/${state.view}${query ? `?${query}` : ""}`;
}

/** Changes to a state. An option that is `null` is as it would be anyway. */
export interface Change {
  readonly view?: string;
  readonly model?: string;
  readonly text?: string;
  readonly options?: Readonly<Record<string, string | null>>;
}

export function changed(state: State, change: Change): State {
  const options = new Map(state.options);
  for (const [key, value] of Object.entries(change.options ?? {})) {
    if (value === null || value === "") options.delete(key);
    else options.set(key, value);
  }
  return {
    view: change.view ?? state.view,
    model: change.model ?? state.model,
    text: change.text ?? state.text,
    options,
  };
}

/** An option, or what it is if the address does not tell. */
export function option(state: State, key: string, otherwise: string): string {
  return state.options.get(key) ?? otherwise;
}

/** An option that is one of a few; anything else is the first of them. */
export function oneOf<Value extends string>(state: State, key: string, values: readonly [Value, ...Value[]]): Value {
  const found = state.options.get(key);
  return values.find((value) => value === found) ?? values[0];
}

/** A whole number within bounds, or nothing. */
export function whole(state: State, key: string, least: number, most: number): number | undefined {
  const told = state.options.get(key);
  if (told === undefined || !/^\d{1,9}$/.test(told)) return undefined;
  const number = Number(told);
  return number >= least && number <= most ? number : undefined;
}
