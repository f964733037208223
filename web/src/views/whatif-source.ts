// The words of a source as buttons: one is left out, or reads something else.

import { button, element, fill, freshId, rove, show } from "../dom.js";
import { isRightToLeft } from "../tokens.js";
import type { Changes } from "./whatif-changes.js";

export interface SourceChanges {
  readonly whole: HTMLElement;
  show(words: readonly string[], changes: Changes): void;
}

export interface SourceEvents {
  drop(place: number, on: boolean): void;
  /** Something else in its place; nothing is as it was. */
  edit(place: number, text: string | null): void;
}

export function sourceChanges(events: SourceEvents): SourceChanges {
  let words: readonly string[] = [];
  let changes: Changes | null = null;
  let open = -1;
  let known = "";
  let made: HTMLButtonElement[] = [];

  const list = element("ul", { class: "token-row words", with: { "aria-label": "Words of the source" } });
  const refresh = rove(list, () => made, () => false);
  const id = freshId("instead");
  const field = element("input", {
    id,
    with: { type: "text", dir: "auto", autocomplete: "off", spellcheck: "false", maxlength: 200 },
    on: {
      input: () => { if (open >= 0) events.edit(open, field.value.trim() === "" ? null : field.value); },
      keydown: (event) => {
        if (event.key === "Enter" || event.key === "Escape") made[open]?.focus();
      },
    },
  });
  const name = element("strong");
  const drop = button("Leave it out", () => {
    if (open >= 0) events.drop(open, !changes?.drops.includes(open));
  });
  const editor = element("div", { class: "word-editor", with: { role: "group", "aria-label": "Change of a word" } },
    name, drop, element("span", { class: "field" }, element("label", { with: { for: id } }, "or write instead"), field));
  const hint = element("p", { class: "quiet" }, "Press a word to leave it out or to write another one; the Delete key leaves it out at once.");
  const below = element("div", { class: "word-below" }, hint, editor);
  const whole = element("section", { class: "whatif-words", with: { "aria-label": "Changes of the source" } }, list, below);

  const placeOf = (event: Event): number => made.indexOf((event.target as Element).closest("button") as HTMLButtonElement);
  list.addEventListener("click", (event) => {
    const place = placeOf(event);
    if (place < 0) return;
    open = open === place ? -1 : place;
    dress();
    // A press of a key or a mouse may go on with the keyboard; on a touch screen that would cover the page.
    if (open >= 0 && (event as PointerEvent).pointerType !== "touch") field.focus({ preventScroll: true });
  });
  list.addEventListener("keydown", (event) => {
    const place = placeOf(event);
    if (place < 0 || (event.key !== "Delete" && event.key !== "Backspace")) return;
    event.preventDefault();
    events.drop(place, !changes?.drops.includes(place));
  });

  function dress(): void {
    made.forEach((one, place) => {
      const word = words[place] ?? "";
      const edit = changes?.edits.get(place);
      const dropped = changes?.drops.includes(place) ?? false;
      const old = element(edit !== undefined || dropped ? "del" : "bdi", {}, word);
      fill(one, old, ...(edit === undefined ? [] : [" → ", element("ins", {}, edit)]));
      one.classList.toggle("changed", edit !== undefined || dropped);
      one.setAttribute("aria-label", dropped ? `${word}, left out` : edit !== undefined ? `${word}, instead of it ${edit}` : word);
      one.setAttribute("aria-expanded", String(place === open));
    });
    hint.hidden = open >= 0;
    editor.hidden = open < 0;
    if (open < 0) return;
    name.textContent = words[open] ?? "";
    drop.setAttribute("aria-pressed", String(changes?.drops.includes(open) ?? false));
    show(field, changes?.edits.get(open) ?? "");
    if (document.activeElement !== field) field.value = changes?.edits.get(open) ?? "";
  }

  return {
    whole,
    show(next, now) {
      changes = now;
      const key = JSON.stringify(next);
      if (key !== known) {
        known = key;
        words = next;
        open = -1;
        made = next.map(() => button("", () => undefined, { class: "chip" }));
        list.dir = isRightToLeft(next.join(" ")) ? "rtl" : "ltr";
        fill(list, ...made.map((one) => element("li", {}, one)));
        refresh();
      }
      dress();
    },
  };
}
