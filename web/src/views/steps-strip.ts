// The steps in a row: what the output has there, and how undecided the model was. A step is chosen by the slider, the
// buttons beside it, or in the row itself.

import { button, element, fill, freshId, rove } from "../dom.js";
import { signed } from "../numbers.js";

export interface Step {
  /** What the best output has there; nothing behind its end. */
  readonly token: string | null;
  readonly entropy: number | undefined;
  /** Whether a reader has chosen it. */
  readonly forced: boolean;
}

export interface Strip {
  readonly whole: HTMLElement;
  /** To give it the keyboard. */
  focus(): void;
  show(steps: readonly Step[], now: number): void;
}

export function strip(choose: (step: number) => void): Strip {
  let known = "";
  let made: HTMLButtonElement[] = [];
  let count = 0;
  let shown = -1;
  const id = freshId("step");
  const slider = element("input", { id, with: { type: "range", min: 1, step: 1 }, on: { input: () => choose(Number(slider.value) - 1) } });
  const told = element("output", { class: "number", with: { for: id } });
  const move = (by: number): void => choose(Math.max(0, Math.min(count - 1, shown + by)));
  const back = button("‹", () => move(-1), { with: { "aria-label": "The step before" } });
  const forth = button("›", () => move(1), { with: { "aria-label": "The next step" } });
  const row = element("ol", { class: "steps-row", with: { "aria-label": "Steps, with what the output has there" } });
  const refresh = rove(row, () => made, () => false);
  row.addEventListener("focusin", (event) => {
    const place = made.indexOf((event.target as Element).closest("button") as HTMLButtonElement);
    if (place >= 0 && place !== shown) choose(place);
  });
  const whole = element("div", { class: "steps-strip" },
    element("div", { class: "steps-slider" }, element("label", { with: { for: id } }, "Step"), back, slider, forth, told), row);

  return {
    whole,
    focus: () => slider.focus(),
    show(steps, now) {
      const most = Math.max(1e-3, ...steps.map(({ entropy }) => entropy ?? 0));
      const key = JSON.stringify(steps);
      if (key !== known) {
        known = key;
        count = steps.length;
        slider.max = String(Math.max(1, count));
        made = steps.map((step, place) => {
          const entropy = step.entropy === undefined ? "" : `, entropy ${signed(step.entropy, 2)} nats`;
          const one = button("", () => choose(place), {
            class: step.forced ? "forced" : "",
            with: { "aria-label": `Step ${place + 1}: ${step.token ?? "behind the end"}${step.forced ? ", forced" : ""}${entropy}` },
          });
          one.append(
            element("span", { class: "undecided", with: { "aria-hidden": "true" } },
              element("span", { style: { height: `${((step.entropy ?? 0) / most) * 100}%` } })),
            element("bdi", {}, step.token ?? "·"));
          return one;
        });
        fill(row, ...made.map((one) => element("li", {}, one)));
        shown = -1;
      }
      slider.value = String(now + 1);
      slider.setAttribute("aria-valuetext", `step ${now + 1} of ${count}: ${steps[now]?.token ?? "behind the end"}`);
      told.textContent = `${now + 1} of ${count}`;
      back.disabled = now <= 0;
      forth.disabled = now >= count - 1;
      if (now === shown) return;
      made[shown]?.removeAttribute("aria-current");
      shown = now;
      const one = made[now];
      one?.setAttribute("aria-current", "step");
      for (const other of made) other.tabIndex = other === one ? 0 : -1;
      refresh();
      if (one && row.clientWidth > 0) {
        const [left, right] = [one.offsetLeft - row.offsetLeft, one.offsetLeft - row.offsetLeft + one.offsetWidth];
        if (left < row.scrollLeft + 30) row.scrollLeft = left - 60;
        else if (right > row.scrollLeft + row.clientWidth - 30) row.scrollLeft = right + 60 - row.clientWidth;
      }
    },
  };
}
