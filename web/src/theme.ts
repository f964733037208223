// Light or dark: as the system has it, or as the reader has chosen.

import type { Ground } from "./scale.js";

const KEY = "gatto-theme";
export type Choice = "auto" | Ground;

export interface Theme {
  choice(): Choice;
  choose(choice: Choice): void;
  /** What it comes to. */
  ground(): Ground;
}

export function theme(changed: () => void): Theme {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const told = localStorage.getItem(KEY);
  let choice: Choice = told === "light" || told === "dark" ? told : "auto";
  const apply = (): void => {
    if (choice === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", choice);
  };
  apply();
  dark.addEventListener("change", () => changed());
  return {
    choice: () => choice,
    choose(wanted) {
      choice = wanted;
      if (wanted === "auto") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, wanted);
      apply();
      changed();
    },
    ground: () => (choice === "auto" ? (dark.matches ? "dark" : "light") : choice),
  };
}
