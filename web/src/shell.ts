// What is around every view: the header, the tabs, what saves, and where the service is heard when it refuses.

import type { ModelInfo, ServiceError } from "./api.js";
import { button, element, fill, rove, select } from "./dom.js";
import { saveJson, savePng, saveSvg, type Exported } from "./export.js";
import type { Ground } from "./scale.js";
import type { Choice, Theme } from "./theme.js";
import type { View } from "./views/view.js";

export interface ShellEvents {
  view(id: string): void;
  model(name: string): void;
  key(key: string): void;
  exported(): Exported | null;
  ground(): Ground;
  /** The address of what is seen. */
  address(): string;
  /** What an address does not hold, if there is something. */
  missing(): string | null;
  readonly theme: Theme;
}

export interface Shell {
  readonly whole: HTMLElement;
  readonly source: HTMLElement;
  readonly panel: HTMLElement;
  update(models: readonly ModelInfo[], model: ModelInfo | null, views: readonly View[], view: View | null): void;
  exportable(exported: Exported | null): void;
  announce(text: string): void;
  /** A line about what goes on; empty for nothing. */
  notice(text: string): void;
  refused(error: ServiceError | null, again?: () => void): void;
}

const TASKS: Readonly<Record<string, string>> = {
  translate: "translates",
  caption: "captions images",
  transcribe: "transcribes sounds",
  classify: "classifies",
  label: "labels words",
  "language-model": "continues texts",
  "masked-language-model": "fills gaps",
};

export function shell(events: ShellEvents): Shell {
  const models = select("Model", (name) => events.model(name));
  const facts = element("p", { class: "facts quiet" });
  const themes = select("Theme", (choice) => events.theme.choose(choice as Choice));
  themes.set(
    [{ value: "auto", text: "auto" }, { value: "light", text: "light" }, { value: "dark", text: "dark" }],
    events.theme.choice(),
  );
  const header = element("header", {},
    element("h1", {}, "Gatto"),
    models.whole,
    facts,
    themes.whole,
    element("a", { with: { href: "/docs" } }, "Documentation"));

  const tabs = element("div", { class: "tabs", with: { role: "tablist", "aria-label": "Views" } });
  const refresh = rove(tabs, () => [...tabs.querySelectorAll<HTMLElement>("[role=tab]")], () => false);
  const panel = element("div", { id: "view", class: "view", with: { role: "tabpanel", tabindex: -1 } });

  const files = ["SVG", "PNG", "JSON"].map((kind) => button(kind, () => {
    const exported = events.exported();
    if (!exported) return;
    if (kind === "JSON") saveJson(exported);
    if (kind === "SVG") saveSvg(exported);
    if (kind === "PNG") savePng(exported, events.ground()).catch((error: unknown) => notice(String(error)));
  }, { with: { "aria-label": `Save as ${kind}`, title: `Save as ${kind}` } }));
  const copy = button("Copy link", () => {
    const told = (text: string): void => {
      copy.textContent = text;
      announce(text);
      setTimeout(() => { copy.textContent = "Copy link"; }, 2500);
    };
    // The clipboard is there for pages that are served safely, and on this machine.
    if (!navigator.clipboard) told("Copy it from above");
    else navigator.clipboard.writeText(events.address()).then(() => told(events.missing() ?? "Copied"), () => told("Copy it from above"));
  });
  const bar = element("div", { class: "saving", with: { role: "group", "aria-label": "Share and save" } }, copy, ...files);

  const status = element("div", { class: "visually-hidden", with: { role: "status" } });
  const announce = (text: string): void => { status.textContent = text; };
  const line = element("p", { class: "notice", with: { role: "status" } });
  line.hidden = true;
  let fading: ReturnType<typeof setTimeout> | undefined;
  const notice = (text: string): void => {
    clearTimeout(fading);
    line.textContent = text;
    line.hidden = !text;
    if (text) fading = setTimeout(() => { line.hidden = true; }, 8000);
  };

  const source = element("div");
  const refusal = element("div", { with: { role: "alert" } });
  const main = element("main", {}, source, element("div", { class: "views" }, element("div", { class: "bar" }, tabs, bar), panel));
  main.hidden = true;
  const whole = element("div", { class: "page" }, header, refusal, line, main, status);

  return {
    whole,
    source,
    panel,
    announce,
    notice,
    update(all, model, views, view) {
      main.hidden = false;
      models.whole.hidden = all.length === 0;
      models.set(all.map(({ name }) => ({ value: name, text: name })), model?.name ?? "");
      models.control.disabled = all.length < 2;
      facts.textContent = model ? told(model) : "";
      const known = [...tabs.children].map((tab) => tab.id).join();
      if (known !== views.map(({ id }) => `tab-${id}`).join()) {
        fill(tabs, ...views.map(({ id, title }) => button(title, () => events.view(id), {
          id: `tab-${id}`,
          with: { role: "tab", "aria-controls": "view" },
        })));
      }
      for (const tab of tabs.querySelectorAll<HTMLElement>("[role=tab]")) {
        const on = tab.id === `tab-${view?.id ?? ""}`;
        tab.setAttribute("aria-selected", String(on));
        tab.tabIndex = on ? 0 : -1;
        // On a narrow screen the tabs scroll.
        if (on && tabs.scrollWidth > tabs.clientWidth) tabs.scrollLeft = tab.offsetLeft - tabs.offsetLeft - 40;
      }
      refresh();
      panel.setAttribute("aria-labelledby", `tab-${view?.id ?? ""}`);
    },
    exportable(exported) {
      for (const file of files) {
        file.disabled = exported === null || (file.textContent !== "JSON" && exported.picture === null);
      }
    },
    refused(error, again) {
      if (!error) {
        fill(refusal);
        return;
      }
      fill(refusal, error.wantsKey ? keyForm(error, events) : element("div", { class: "error" },
        element("p", {}, sentence(error.message)), button("Try again", () => again?.())));
    },
  };
}

function keyForm(error: ServiceError, events: ShellEvents): HTMLElement {
  const field = element("input", { id: "key", with: { type: "password", autocomplete: "off", required: true } });
  return element("form", {
    class: "error",
    on: {
      submit: (event) => {
        event.preventDefault();
        if (field.value.trim()) events.key(field.value.trim());
      },
    },
  },
  element("p", {}, sentence(error.message)),
  element("div", { class: "controls" },
    element("span", { class: "field" }, element("label", { with: { for: "key" } }, "API key"), field),
    element("button", { with: { type: "submit" } }, "Use it")));
}

/** What the service says, as a sentence. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  const first = trimmed.startsWith("`") ? trimmed : trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

function told(model: ModelInfo): string {
  const count = model.parameters;
  const size = count >= 1e6 ? `${(count / 1e6).toFixed(1)} M` : count >= 1e3 ? `${Math.round(count / 1e3)} k` : String(count);
  const pair = model.languages ? ` ${model.languages.source} → ${model.languages.target}` : "";
  return `${TASKS[model.task] ?? model.task}${pair}, ${size} parameters`;
}
