// What is shown in the place of an answer: that it is on its way, or why there is none.

import { ServiceError } from "./api.js";
import { button, element } from "./dom.js";
import { sentence } from "./shell.js";

/** What the service said, and a way to ask again. */
export function trouble(error: unknown, again: () => void): HTMLElement {
  const message = error instanceof Error ? error.message : String(error);
  const status = error instanceof ServiceError && error.status >= 400 ? ` (${error.status})` : "";
  return element("div", { class: "error", with: { role: "alert" } },
    element("p", {}, sentence(message) + status), button("Try again", again));
}

/** An invitation where there is nothing yet. */
export function empty(text: string): HTMLElement {
  return element("p", { class: "empty" }, text);
}

/** What to do so that there is something to look at. */
export function invitation(reads: string): string {
  if (reads === "images") return "Choose an image above, or drop one on it.";
  if (reads === "sounds") return "Choose a recording above, or make one.";
  return "Type something above.";
}
