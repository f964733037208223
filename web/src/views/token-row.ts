// A row of tokens as buttons: pointed at, focused, pinned.

import { button, element, fill, rove } from "../dom.js";
import type { Place } from "../tokens.js";
import { isRightToLeft } from "../tokens.js";
import type { Light, StageEvents } from "./stage.js";

export interface TokenRow {
  readonly whole: HTMLElement;
  readonly buttons: () => readonly HTMLButtonElement[];
  show(places: readonly Place[], label: string): void;
  /** What a button looks like and says, for each of them; nothing is as it is without light. */
  dress(look: (index: number) => { fill: string; ink: string; number: string } | null, on: Light | null, pinned: Light | null): void;
}

export function tokenRow(side: "row" | "column", events: StageEvents, vertical: () => boolean): TokenRow {
  const list = element("ul", { class: "token-row" });
  let made: HTMLButtonElement[] = [];
  let numbers: HTMLElement[] = [];
  let worn: string[] = [];
  let known = "";
  const refresh = rove(list, () => made, vertical);
  const indexOf = (event: Event): number => {
    const found = (event.target as Element | null)?.closest("button");
    return found ? made.indexOf(found) : -1;
  };
  const point = (event: Event): void => {
    const index = indexOf(event);
    if (index >= 0) events.point({ side, index });
  };
  list.addEventListener("pointerover", point);
  list.addEventListener("focusin", point);
  list.addEventListener("pointerleave", () => events.point(null));
  list.addEventListener("focusout", () => events.point(null));
  list.addEventListener("click", (event) => {
    const index = indexOf(event);
    if (index >= 0) events.pin({ side, index });
  });
  return {
    whole: list,
    buttons: () => made,
    show(places, label) {
      list.setAttribute("aria-label", label);
      const told = JSON.stringify(places);
      if (told === known) return;
      known = told;
      numbers = places.map(() => element("span", { class: "number", with: { "aria-hidden": "true" } }));
      made = places.map(({ text }, place) => {
        const one = button("", () => undefined, { class: "chip", with: { title: text, "aria-pressed": "false" } });
        one.append(element("bdi", {}, text || "␣"), numbers[place] as HTMLElement);
        return one;
      });
      list.dir = isRightToLeft(places.map(({ text }) => text).join(" ")) ? "rtl" : "ltr";
      worn = places.map(() => "");
      fill(list, ...made.map((one) => element("li", {}, one)));
      refresh();
    },
    dress(look, on, pinned) {
      made.forEach((one, index) => {
        const dressed = look(index);
        const number = numbers[index];
        // Only what changes is touched: there may be hundreds.
        const told = dressed ? `${dressed.fill} ${dressed.ink} ${dressed.number}` : "";
        if (number && told !== worn[index]) {
          worn[index] = told;
          one.style.backgroundColor = dressed?.fill ?? "";
          one.style.color = dressed?.ink ?? "";
          number.textContent = dressed?.number ?? "";
          number.style.color = dressed?.ink ?? "";
        }
        one.classList.toggle("on", on?.side === side && on.index === index);
        one.setAttribute("aria-pressed", String(pinned?.side === side && pinned.index === index));
      });
    },
  };
}
