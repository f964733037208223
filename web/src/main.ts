// The page: which model, what it reads, and a view of it at work.

import { changed, format, parse, type Change, type State } from "./address.js";
import { Service, ServiceError, type Asked, type ModelInfo } from "./api.js";
import { element, fill } from "./dom.js";
import { input } from "./input.js";
import { fromShared, shared, type Loaded, type Source } from "./source.js";
import { shell } from "./shell.js";
import { theme } from "./theme.js";
import { VIEWS } from "./views/index.js";
import type { Context, Mounted, View } from "./views/view.js";

/** How long the address lags behind the keyboard. */
const LAG = 300;
const KEY = "gatto-key";

const service = new Service();
service.key = sessionStorage.getItem(KEY) ?? "";

let models: readonly ModelInfo[] = [];
let runs = false;
let loaded = false;
let state: State = parse(location.hash);
const files: { image: Loaded | null; sound: Loaded | null } = { image: null, sound: null };
/** What of the address the files were last taken from. */
let sharedFile: string | undefined;
let open: { readonly view: View; readonly mounted: Mounted } | null = null;

const colours = theme(() => render());
const parts = shell({
  view: (id) => change({ view: id }, "push"),
  model: (name) => change({ model: name, options: { file: null } }, "push"),
  key: (key) => {
    service.key = key;
    sessionStorage.setItem(KEY, key);
    void load();
  },
  exported: () => open?.mounted.exported() ?? null,
  ground: () => colours.ground(),
  address: () => {
    settle();
    return location.href;
  },
  missing: () => {
    const found = sourceOf(chosen());
    return found && found.kind !== "text" && !state.options.has("file") ? "Copied without the file" : null;
  },
  theme: colours,
});
service.whenFull = (seconds) => parts.notice(`The service is busy; asking again in ${Math.ceil(seconds)} s.`);

const source = input({
  text: (text) => change({ text }, "replace"),
  file: (kind, file) => {
    files[kind] = file;
    sharedFile = shared(file) ?? undefined;
    parts.notice("");
    change({ options: { file: sharedFile ?? null } }, "push");
  },
  failed: (message) => parts.notice(message),
});
parts.source.append(source.whole);

let lagging: ReturnType<typeof setTimeout> | undefined;

function change(wanted: Change, how: "push" | "replace" = "replace"): void {
  const next = changed(state, wanted);
  if (format(next) === format(state) && !wanted.options) return;
  if (how === "push") {
    settle();
    state = next;
    history.pushState(null, "", format(state));
  } else {
    state = next;
    clearTimeout(lagging);
    lagging = setTimeout(settle, LAG);
  }
  render();
}

/** The address becomes that of the state. */
function settle(): void {
  clearTimeout(lagging);
  lagging = undefined;
  if (format(state) !== location.hash) history.replaceState(null, "", format(state));
}

function moved(): void {
  // What was typed last is in the entry that was just left.
  clearTimeout(lagging);
  lagging = undefined;
  state = parse(location.hash);
  render();
}
addEventListener("popstate", moved);
addEventListener("hashchange", moved);
addEventListener("pagehide", settle);

function chosen(): ModelInfo | null {
  return models.find((model) => model.name === state.model) ?? models[0] ?? null;
}

/** Takes a file out of the address, where one is that is not known yet. */
function receive(model: ModelInfo | null): void {
  const told = state.options.get("file");
  if (told === sharedFile || model === null || model.reads === "texts") return;
  sharedFile = told;
  if (told === undefined) return;
  const kind = model.reads === "images" ? "image" : "sound";
  files[kind] = fromShared(told, kind === "image" ? "image" : "recording");
}

function sourceOf(model: ModelInfo | null): Source | null {
  if (!model) return null;
  if (model.reads === "texts") return state.text.trim() ? { kind: "text", text: state.text } : null;
  const kind = model.reads === "images" ? "image" : "sound";
  const file = files[kind];
  return file ? { kind, file } : null;
}

function context(): Context {
  const model = chosen();
  const found = sourceOf(model);
  return {
    service,
    model,
    state,
    source: found,
    ground: colours.ground(),
    change,
    announce: parts.announce,
    asked: (): Asked | null => {
      if (!model || !found) return null;
      const bare = { model: model.name };
      if (found.kind === "text") return { ...bare, text: found.text };
      return found.kind === "image" ? { ...bare, image: found.file.base64 } : { ...bare, sound: found.file.base64 };
    },
    exportable: () => parts.exportable(open?.mounted.exported() ?? null),
  };
}

function render(): void {
  if (!loaded) return;
  const model = chosen();
  receive(model);
  const suiting = VIEWS.filter((view) => view.suits(model, runs));
  const view = suiting.find((one) => one.id === state.view) ?? suiting[0];
  parts.update(models, model, suiting, view ?? null);
  if (!view) {
    open?.mounted.unmount();
    open = null;
    fill(parts.panel, element("p", { class: "empty" }, "There is nothing to show: the service has no models."));
    return;
  }
  const now = context();
  source.whole.hidden = !view.reads;
  source.update(model, now.source, state.text, now.ground);
  if (open?.view !== view) {
    open?.mounted.unmount();
    open = null;
    parts.panel.replaceChildren();
    open = { view, mounted: view.mount(parts.panel, now) };
  }
  document.title = model ? `${view.title}: ${model.name}, Gatto` : `${view.title}, Gatto`;
  open.mounted.update(now);
  now.exportable();
}

async function load(): Promise<void> {
  try {
    ({ models, runs } = await service.offers());
    loaded = true;
    parts.refused(null);
    render();
  } catch (error) {
    const refusal = error instanceof ServiceError ? error : new ServiceError(0, String(error));
    parts.refused(refusal, () => void load());
  }
}

document.body.prepend(parts.whole);
void load();
