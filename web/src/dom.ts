// Elements, made by a function each. Texts become text nodes and styles go through the object model: nothing is ever
// parsed as markup.

export type Child = Node | string | number | null | undefined | false;

type Listeners = { [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void };

export interface Attributes {
  readonly class?: string | undefined;
  readonly id?: string | undefined;
  /** `aria-…`, `data-…`, `role` and every other attribute; `false` and nothing leave it out, `true` is the bare name. */
  readonly with?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly style?: Readonly<Record<string, string>>;
  readonly on?: Listeners;
}

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (attributes.class) made.className = attributes.class;
  if (attributes.id) made.id = attributes.id;
  setAttributes(made, attributes.with ?? {});
  for (const [property, value] of Object.entries(attributes.style ?? {})) made.style.setProperty(property, value);
  for (const [event, listener] of Object.entries(attributes.on ?? {})) {
    made.addEventListener(event, listener as EventListener);
  }
  append(made, children);
  return made;
}

/** An element of a picture. Everything that is seen is in its attributes, so that it can be saved as a file. */
export function drawn<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number | boolean | null | undefined>> = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  setAttributes(made, attributes);
  append(made, children);
  return made;
}

export function setAttributes(
  target: Element,
  attributes: Readonly<Record<string, string | number | boolean | null | undefined>>,
): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) target.removeAttribute(name);
    else target.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(typeof child === "number" ? String(child) : child);
  }
}

/** Replaces all that an element holds. */
export function fill(parent: Element, ...children: readonly Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

let numbered = 0;

/** A fresh id, to tie a label to its control. */
export function freshId(stem: string): string {
  numbered += 1;
  return `${stem}-${numbered}`;
}

export function button(text: string, press: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const given = { type: "button", ...attributes.with };
  return element("button", { ...attributes, with: given, on: { click: press, ...attributes.on } }, text);
}

export interface Choice {
  readonly value: string;
  readonly text: string;
}

export interface Select {
  readonly whole: HTMLElement;
  readonly control: HTMLSelectElement;
  /** Sets what can be chosen and what is, without telling anybody. */
  set(choices: readonly Choice[], value: string): void;
}

/** A labelled list to choose from. */
export function select(label: string, change: (value: string) => void): Select {
  const id = freshId("select");
  const control = element("select", { id, on: { change: () => change(control.value) } });
  const whole = element("span", { class: "field" }, element("label", { with: { for: id } }, label), control);
  let known = "";
  const set = (choices: readonly Choice[], value: string): void => {
    const told = JSON.stringify(choices);
    if (told !== known) {
      known = told;
      const option = (choice: Choice): HTMLOptionElement =>
        element("option", { with: { value: choice.value } }, choice.text);
      fill(control, ...choices.map(option));
    }
    control.value = value;
    if (control.selectedIndex < 0 && choices.length > 0) control.selectedIndex = 0;
  };
  return { whole, control, set };
}

export interface Toggle {
  readonly whole: HTMLElement;
  readonly control: HTMLInputElement;
}

/** A labelled box to tick. */
export function toggle(label: string, change: (on: boolean) => void): Toggle {
  const control = element("input", { with: { type: "checkbox" }, on: { change: () => change(control.checked) } });
  return { whole: element("label", { class: "toggle" }, control, " ", label), control };
}

/** A labelled field for a number; an empty one is nothing. */
export function numberField(
  label: string,
  range: { readonly min?: number; readonly max?: number; readonly step?: number | "any"; readonly placeholder?: string },
  change: (value: string) => void,
): { readonly whole: HTMLElement; readonly control: HTMLInputElement } {
  const id = freshId("number");
  const control = element("input", {
    id,
    with: { type: "number", inputmode: range.step === "any" ? "decimal" : "numeric", ...range },
    on: { input: () => control.validity.badInput || change(control.value) },
  });
  const whole = element("span", { class: "field" }, element("label", { with: { for: id } }, label), control);
  return { whole, control };
}

/** Sets the value of a field that nobody is writing in. */
export function show(control: HTMLInputElement | HTMLTextAreaElement, value: string): void {
  if (control.value !== value && document.activeElement !== control) control.value = value;
}

/**
 * One stop for the tab key in a row of buttons; arrows, Home and End move inside. Returns what tells it that the
 * buttons have changed.
 */
export function rove(row: HTMLElement, buttons: () => readonly HTMLElement[], vertical: () => boolean): () => void {
  const focusable = (chosen: HTMLElement | undefined): void => {
    for (const one of buttons()) one.tabIndex = one === chosen ? 0 : -1;
  };
  row.addEventListener("keydown", (event) => {
    const all = buttons();
    const place = all.indexOf(document.activeElement as HTMLElement);
    if (place < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const turned = !vertical() && getComputedStyle(row).direction === "rtl";
    const forth = vertical() ? "ArrowDown" : turned ? "ArrowLeft" : "ArrowRight";
    const back = vertical() ? "ArrowUp" : turned ? "ArrowRight" : "ArrowLeft";
    const steps: Record<string, number> = { [forth]: place + 1, [back]: place - 1, Home: 0, End: all.length - 1 };
    const to = steps[event.key];
    const next = to === undefined ? undefined : all[Math.max(0, Math.min(all.length - 1, to))];
    if (!next) return;
    event.preventDefault();
    focusable(next);
    next.focus();
  });
  row.addEventListener("focusin", (event) => {
    const found = buttons().find((one) => one === event.target);
    if (found) focusable(found);
  });
  return () => focusable(buttons().find((one) => one.tabIndex === 0) ?? buttons()[0]);
}
