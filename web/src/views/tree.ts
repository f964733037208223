// The whole search as a tree that can be moved with the pointer and walked with the keyboard. Only what can be seen is
// drawn, so that hundreds of steps cost no more than a few.

import { drawn, element, fill, setAttributes } from "../dom.js";
import { percent, signed } from "../numbers.js";
import type { Ground } from "../scale.js";
import { joined, short, story } from "./steps-words.js";
import { layOut, type Layout } from "./tree-layout.js";
import { pathTo, type Node, type Tree } from "./tree-nodes.js";
import { boxOf, columnsBetween, measure, spoken, stepNumbers, treeParts, treePicture, type Places } from "./tree-picture.js";

export interface TreeView {
  readonly whole: HTMLElement;
  show(tree: Tree, pruned: boolean, ground: Ground): void;
  /** The step that is looked at, from 0. */
  step(step: number): void;
  picture(title: string): SVGSVGElement | null;
  close(): void;
}

/** How far behind the edge of what is seen it is drawn. */
const MORE = 400;
/** From this far on a press moves the tree, and is no click. */
const DRAGGED = 5;

export function treeView(pressed: (node: Node) => void): TreeView {
  let tree: Tree | null = null;
  let layout: Layout | null = null;
  let places: Places | null = null;
  let ground: Ground = "light";
  let known: { readonly tree: Tree; readonly pruned: boolean } | null = null;
  let now = 0;
  let drawnRange = "";
  /** The one stop for the tab key. */
  let current = 0;
  let waiting = 0;

  const numbersPlace = drawn("g");
  const linesPlace = drawn("g");
  const boxesPlace = drawn("g");
  const labelsPlace = drawn("g", { class: "tree-labels", "aria-hidden": "true" });
  const picture = drawn("svg", { role: "group", "aria-label": "The search as a tree; arrow keys move over it" }, numbersPlace, linesPlace, boxesPlace, labelsPlace);
  const scroller = element("div", { class: "tree-scroll" }, picture);
  const told = element("div", { class: "tree-told" });
  const whole = element("div", { class: "tree" }, scroller, told);

  const numberOf = (event: Event): number | null => {
    const found = (event.target as Element | null)?.closest<SVGGElement>("[data-node]");
    return found ? Number(found.getAttribute("data-node")) : null;
  };

  function drawSoon(): void {
    if (waiting === 0) waiting = requestAnimationFrame(() => {
      waiting = 0;
      draw();
    });
  }

  function draw(again = false): void {
    if (!tree || !layout || !places) return;
    const range = columnsBetween(places, scroller.scrollLeft - MORE, scroller.scrollLeft + scroller.clientWidth + MORE);
    const told_ = `${range.join()} ${now}`;
    if (!again && told_ === drawnRange) return;
    drawnRange = told_;
    const focused = document.activeElement?.closest("[data-node]")?.getAttribute("data-node");
    const { lines, boxes } = treeParts(tree, layout, places, range, ground, [current]);
    const labels: Element[] = [];
    for (const box of boxes) {
      const number = Number(box.getAttribute("data-node"));
      setAttributes(box, {
        class: "tree-node",
        role: "button",
        tabindex: number === current ? 0 : -1,
        "aria-label": spoken(tree, tree.nodes[number] as Node),
      });
      // Its name says all that is written in it.
      labels.push(...box.querySelectorAll("text, circle"));
    }
    fill(numbersPlace, ...stepNumbers(places, range, now, ground));
    fill(linesPlace, ...lines);
    fill(boxesPlace, ...boxes);
    fill(labelsPlace, ...labels);
    if (focused !== undefined && focused !== null) boxFor(Number(focused))?.focus({ preventScroll: true });
  }

  function boxFor(number: number): SVGGElement | null {
    return boxesPlace.querySelector<SVGGElement>(`[data-node="${number}"]`);
  }

  /** Marks the hypothesis up to a node, and tells its story. */
  function tell(number: number | null): void {
    for (const box of boxesPlace.querySelectorAll(".on")) box.classList.remove("on");
    if (number === null || !tree) {
      fill(told, element("p", { class: "quiet" }, "Point at a candidate, or move to it with the arrow keys, for its story. Press it to see its step."));
      return;
    }
    const { nodes } = tree;
    const node = nodes[number] as Node;
    const path = pathTo(nodes, number);
    for (const at of path) boxFor(at)?.classList.add("on");
    const facts: (readonly [string, string])[] = [
      ["step", String(node.step + 1)],
      ["probability", percent(Math.exp(node.logProbability))],
      ["log p", signed(node.logProbability, 3)],
      ["log p so far", signed(node.sum, 3)],
      ...(node.score === null ? [] : [["score", signed(node.score, 3)] as const]),
      ...(node.entropy === undefined ? [] : [["entropy before it", `${signed(node.entropy, 2)} nats`] as const]),
      ...(tree.groups > 1 ? [["group", String(node.group + 1)] as const] : []),
    ];
    fill(told,
      element("p", { class: "tree-path" }, element("bdi", {}, joined(path.map((at) => (nodes[at] as Node).token)))),
      element("p", {}, element("strong", {}, `${short(node)}. `), story(node, tree)),
      element("dl", {}, ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)))));
  }

  /** Brings a node into sight, and gives it the keyboard. */
  function go(number: number): void {
    if (!tree || !layout || !places || layout.rows[number] === null) return;
    current = number;
    reveal(number);
    draw(true);
    boxFor(number)?.focus({ preventScroll: true });
  }

  function reveal(number: number, down = true): void {
    if (!tree || !layout || !places) return;
    const box = boxOf(tree, layout, places, number);
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = scroller;
    if (box.x < scrollLeft + 20) scroller.scrollLeft = box.x - 60;
    else if (box.x + box.width > scrollLeft + clientWidth - 20) scroller.scrollLeft = box.x + box.width + 60 - clientWidth;
    if (!down) return;
    if (box.y < scrollTop + 30) scroller.scrollTop = box.y - 40;
    else if (box.y + box.height > scrollTop + clientHeight - 10) scroller.scrollTop = box.y + box.height + 20 - clientHeight;
  }

  scroller.addEventListener("scroll", drawSoon, { passive: true });
  const watcher = new ResizeObserver(() => drawSoon());
  watcher.observe(scroller);

  picture.addEventListener("pointerover", (event) => {
    const number = numberOf(event);
    if (number !== null) tell(number);
  });
  picture.addEventListener("focusin", (event) => {
    const number = numberOf(event);
    if (number === null) return;
    if (number !== current) {
      boxFor(current)?.setAttribute("tabindex", "-1");
      current = number;
      boxFor(number)?.setAttribute("tabindex", "0");
    }
    tell(number);
  });
  picture.addEventListener("keydown", (event) => {
    const number = numberOf(event);
    if (number === null || !tree || !layout || event.ctrlKey || event.altKey || event.metaKey) return;
    const node = tree.nodes[number] as Node;
    const shown = (candidate: number): boolean => layout?.rows[candidate] !== null;
    const column = layout.columns[node.step] ?? [];
    const steps: Record<string, () => number | undefined> = {
      ArrowRight: () => node.children.find(shown),
      ArrowLeft: () => node.parent ?? undefined,
      ArrowDown: () => column[column.indexOf(number) + 1],
      ArrowUp: () => column[column.indexOf(number) - 1],
      Home: () => layout?.columns[0]?.[0],
      End: () => layout?.columns[layout.columns.length - 1]?.[0],
    };
    if (event.key === "Enter" || event.key === " ") pressed(node);
    else if (!steps[event.key]) return;
    const next = steps[event.key]?.();
    event.preventDefault();
    if (next !== undefined) go(next);
  });

  // A mouse moves the tree by its ground; fingers do that anyway.
  let held: { readonly x: number; readonly y: number; readonly left: number; readonly top: number } | null = null;
  let dragged = false;
  scroller.addEventListener("pointerdown", (event) => {
    dragged = false;
    if (event.pointerType !== "mouse" || event.button !== 0 || event.offsetX > scroller.clientWidth + scroller.scrollLeft) return;
    held = { x: event.clientX, y: event.clientY, left: scroller.scrollLeft, top: scroller.scrollTop };
  });
  scroller.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [across, down] = [event.clientX - held.x, event.clientY - held.y];
    if (!dragged && Math.hypot(across, down) > DRAGGED) {
      dragged = true;
      scroller.setPointerCapture(event.pointerId);
      scroller.classList.add("held");
    }
    if (dragged) scroller.scrollTo(held.left - across, held.top - down);
  });
  const letGo = (): void => {
    held = null;
    scroller.classList.remove("held");
  };
  scroller.addEventListener("pointerup", letGo);
  scroller.addEventListener("pointercancel", letGo);
  picture.addEventListener("click", (event) => {
    const number = numberOf(event);
    if (number !== null && tree && !dragged) pressed(tree.nodes[number] as Node);
  });

  tell(null);
  return {
    whole,
    show(next, pruned, on) {
      const same = known?.tree === next && known.pruned === pruned;
      if (same && ground === on) return;
      ground = on;
      tree = next;
      if (!same) {
        known = { tree: next, pruned };
        layout = layOut(next, pruned);
        places = measure(next, layout);
        current = layout.columns[0]?.[0] ?? 0;
        setAttributes(picture, { width: places.whole, height: places.height, viewBox: `0 0 ${places.whole} ${places.height}` });
        tell(null);
      }
      draw(true);
    },
    step(next) {
      if (next === now && drawnRange) return;
      now = next;
      const number = layout?.columns[next]?.[0];
      if (number !== undefined && !boxesPlace.contains(document.activeElement)) {
        current = number;
        reveal(number, false);
      }
      draw();
    },
    picture: (title) => (tree && layout ? treePicture(tree, layout, title, ground) : null),
    close() {
      cancelAnimationFrame(waiting);
      watcher.disconnect();
    },
  };
}
