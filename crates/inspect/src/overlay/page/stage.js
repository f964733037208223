// An image that can be pointed at, and the words beside it.

/** Two lines, dark below light, so that they are seen on every colour. */
function outline(context, scale, path, dashed) {
  context.save();
  context.beginPath();
  path(context);
  Object.assign(context, { lineWidth: 3 * scale, strokeStyle: "rgb(0 0 0 / 60%)" });
  context.stroke();
  if (dashed) context.setLineDash([5 * scale, 4 * scale]);
  Object.assign(context, { lineWidth: 1.4 * scale, strokeStyle: "#ffffff" });
  context.stroke();
  context.restore();
}

class Stage {
  /** A canvas for a picture that a grid divides, with so many pixels on its longer side. */
  constructor(canvas, picture, grid, side) {
    Object.assign(this, { canvas, picture, grid });
    [canvas.width, canvas.height] = fitted(picture, side);
    this.shown = "";
  }

  /** Shows a focus, or the image itself, with marks: boxes, a ring at the most weight, a region. */
  draw({ weights = null, limit = 1, boxes = [], ring = true, region = null, smooth = true, scale = 2 }) {
    const { canvas, grid } = this;
    compose(canvas, this.picture, weights && focusCanvas(weights, grid, limit, smooth), smooth);
    const context = canvas.getContext("2d");
    const { width, height } = canvas;
    for (const [left, top, right, bottom] of boxes) {
      const at = (place, length) => Math.max(scale, Math.min(length - scale, place * length));
      const [x, y] = [at(left, width), at(top, height)];
      outline(context, scale, (path) => path.rect(x, y, at(right, width) - x, at(bottom, height) - y), true);
    }
    const largest = weights ? most(weights) : 0;
    if (ring && largest > 0) {
      const peak = weights.indexOf(largest);
      const x = (((peak % grid.columns) + 0.5) / grid.columns) * width;
      const y = ((Math.floor(peak / grid.columns) + 0.5) / grid.rows) * height;
      outline(context, scale, (path) => path.arc(x, y, 4.5 * scale, 0, 7), false);
    }
    if (region !== null) {
      const [x, y, wide, high] = this.place(region, width, height);
      outline(context, scale, (path) => path.rect(x, y, wide, high), false);
    }
  }

  place(region, width, height) {
    const { rows, columns } = this.grid;
    const [row, column] = [Math.floor(region / columns), region % columns];
    return [(column / columns) * width, (row / rows) * height, width / columns, height / rows];
  }

  /** The region below the pointer. */
  regionAt({ clientX, clientY }) {
    const { rows, columns } = this.grid;
    const box = this.canvas.getBoundingClientRect();
    const at = (place, start, length, count) => Math.max(0, Math.min(count - 1, Math.floor(((place - start) / length) * count)));
    return at(clientY, box.top, box.height, rows) * columns + at(clientX, box.left, box.width, columns);
  }

  /** Where a region is in the window. */
  frame(region) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y, width, height] = this.place(region, box.width, box.height);
    const [left, top] = [box.left + x, box.top + y];
    return { left, top, right: left + width, bottom: top + height };
  }

  /** The region that an arrow key leads to from a region, or null for other keys. */
  next(region, key) {
    const { rows, columns } = this.grid;
    if (region === null) return key.startsWith("Arrow") ? Math.floor(rows / 2) * columns + Math.floor(columns / 2) : null;
    const [row, column] = [Math.floor(region / columns), region % columns];
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key] ?? [null];
    if (down === null) return null;
    const within = (place, count) => Math.max(0, Math.min(count - 1, place));
    return within(row + down, rows) * columns + within(column + right, columns);
  }

  /** Calls back with the region that is pointed at, tapped or reached by arrow keys, and with null when it is left. */
  onRegion(use) {
    const { canvas } = this;
    let current = null;
    const set = (region) => {
      if (region !== current) use((current = region));
    };
    this.leave = () => set(null);
    canvas.addEventListener("pointermove", (event) => set(this.regionAt(event)));
    canvas.addEventListener("pointerdown", (event) => set(this.regionAt(event)));
    // A finger that is lifted leaves what it has pointed at.
    canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && set(null));
    canvas.addEventListener("blur", () => set(null));
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return set(null);
      const region = this.next(current, event.key);
      if (region === null) return;
      event.preventDefault();
      set(region);
    });
  }
}

const readsLeftwards = (text) => /^[^A-Za-z\u00c0-\u058f\u0900-\ufb00]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.test(text);

/** A word that can be pointed at, with a number below it. */
function wordButton({ word, probability }, wrong = false) {
  const button = element("button", { type: "button", className: wrong ? "word wrong" : "word", tabIndex: -1 },
    element("bdi", { textContent: word }));
  if (wrong) button.append(element("span", { className: "unseen", textContent: " (wrong)" }));
  button.append(element("span", { className: "number" }));
  button.setAttribute("aria-pressed", "false");
  numberOf(button, probability);
  return button;
}

function numberOf(button, value, full = false) {
  const text = value === null ? "" : full ? shortWeight(value) : value.toFixed(2);
  button.querySelector(".number").textContent = text;
}

/** Fills a row of words. Calls back with the word that is pointed at or has the focus, or null; and with that which was clicked. */
function wordRow(row, words, wrong, { point, pin }) {
  const buttons = words.map((word, index) => wordButton(word, wrong.includes(index)));
  const leftwards = readsLeftwards(words.map(({ word }) => word).join(" "));
  row.dir = leftwards ? "rtl" : "ltr";
  row.replaceChildren(...buttons.flatMap((button) => [button, " "]));
  if (buttons.length > 0) buttons[0].tabIndex = 0;
  buttons.forEach((button, index) => {
    button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && point(index));
    button.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && point(null));
    button.addEventListener("focus", () => button.matches(":focus-visible") && point(index));
    button.addEventListener("blur", () => point(null));
    button.addEventListener("click", () => pin(index));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: leftwards ? -1 : 1, ArrowLeft: leftwards ? 1 : -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
      const target = { Home: 0, End: buttons.length - 1 }[event.key] ?? (step === undefined ? undefined : index + step);
      if (target === undefined) return;
      event.preventDefault();
      if (!buttons[target]) return;
      button.tabIndex = -1;
      buttons[target].tabIndex = 0;
      buttons[target].focus();
    });
  });
  return buttons;
}

/** Lights words as much as they looked at a region, and tells how much that is; or puts out their light. */
function lightWords(buttons, words, limits, region) {
  buttons.forEach((button, index) => {
    const { weights, probability } = words[index];
    const part = region === null ? 0 : partOf(weights[region], limits[index]);
    button.style.setProperty("--lit", part.toFixed(3));
    numberOf(button, region === null ? probability : weights[region], region !== null);
  });
}

/** Tells which words looked most at a region. */
function tellRegion(stage, region, entries) {
  const tip = byId("tip");
  tip.hidden = region === null;
  if (region === null) return;
  const { columns } = stage.grid;
  const name = `row ${Math.floor(region / columns) + 1}, column ${(region % columns) + 1}`;
  const strongest = entries.map(([word, weights]) => [word, weights[region]]).sort(([, a], [, b]) => b - a).slice(0, 5);
  const list = strongest.flatMap(([word, weight]) => [
    element("dt", {}, element("bdi", { textContent: word })), element("dd", { textContent: fullWeight(weight) })]);
  tip.replaceChildren(element("div", { textContent: name }), element("dl", {}, ...list));
  tip.hidden = false;
  place(tip, stage.frame(region));
}

const limitsOf = (words, alike) => {
  const own = words.map(({ weights }) => most(weights));
  return alike ? own.map(() => most(own)) : own;
};
addEventListener("scroll", () => (byId("tip").hidden = true), { capture: true, passive: true });
