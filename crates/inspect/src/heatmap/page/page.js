// The page: a table per panel, what is shown of it, and what the reader points at.

const byId = (id) => document.getElementById(id);
const chosen = () => data.heatmaps[Number(byId("chooser").value) || 0];

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** The view that the switches ask for. All views were made by the program, so there is no arithmetic here. */
function currentView() {
  const { views } = chosen();
  const merged = byId("merge").checked;
  const endless = byId("end").checked;
  return (
    views.find((view) => view.merged === merged && view.endless === endless) ??
    views.find((view) => view.merged === merged) ?? views.find((view) => view.endless === endless) ?? views[0]
  );
}

function currentPanels(view) {
  const wanted = byId("panels").value;
  return wanted === "all" ? view.panels : view.panels.filter((_, index) => String(index) === wanted);
}

/** Fills the controls for a heatmap, and leaves out those that would do nothing. */
function prepareControls() {
  const { title, views } = chosen();
  const { panels } = views[0];
  byId("title").textContent = isolated(title) || "Where the model looks";
  byId("merge-label").hidden = !views.some((view) => view.merged);
  byId("end-label").hidden = !views.some((view) => view.endless);
  byId("panels-label").hidden = panels.length < 2;
  const options = panels.map((panel, index) => element("option", { value: String(index), textContent: panel.name }));
  byId("panels").replaceChildren(element("option", { value: "all", textContent: "all side by side" }), ...options);
}

function tableOf(panel, view) {
  const cell = cellSize(view);
  const head = element("tr", {}, element("th", { textContent: "source →\ntarget ↓" }));
  head.append(...view.source.map((token) => header("col", token)));
  const rows = panel.values.map((values, row) => {
    const first = header("row", view.target[row]);
    if (view.probabilities) {
      const probability = view.probabilities[row].toFixed(2);
      first.append(element("span", { className: "probability", title: "probability", textContent: probability }));
    }
    const cells = values.map((value) =>
      element("td", { className: valueClass(value, panel), tabIndex: -1, textContent: shortNumber(value, panel) }));
    return element("tr", {}, first, ...cells);
  });
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", panel.name);
  table.classList.toggle("small", cell.small);
  table.classList.toggle("upright", !cell.flat);
  table.style.setProperty("--cell-width", `${cell.width}px`);
  table.style.setProperty("--cell-height", `${cell.height}px`);
  table.style.setProperty("--label-size", `${cell.labelSize}px`);
  table.querySelector("td").tabIndex = 0;
  return table;
}

function header(scope, token) {
  return element("th", { scope }, element("bdi", { textContent: token, title: token }));
}

function figureOf(panel, view) {
  const caption = element("figcaption", {}, element("bdi", { textContent: panel.name }));
  if (panel.caption) caption.append(" ", element("span", { className: "unit", textContent: panel.caption }));
  const bands = ["across", "down"].map((name) => element("div", { className: `band ${name}`, hidden: true }));
  const stage = element("div", { className: "stage" }, tableOf(panel, view), ...bands);
  const steps = scaleSteps(panel.scale).map((step) => element("span", { className: stepClass(step, panel.scale) }));
  const bar = element("div", { className: "bar" }, ...steps);
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `colours from ${panel.ticks[0]} to ${panel.ticks[2]}`);
  const ticks = element("div", { className: "bar-ticks" }, ...panel.ticks.map((tick) => element("span", { textContent: tick })));
  return element("figure", {}, caption, element("div", { className: "scroll" }, stage), bar, ticks);
}

function draw() {
  hideTip();
  const view = currentView();
  byId("figures").replaceChildren(...currentPanels(view).map((panel) => figureOf(panel, view)));
}

/** Shows the value of a cell, and marks its row and column in every panel. */
function showTip(cell) {
  const view = currentView();
  const panels = currentPanels(view);
  const [row, column] = [cell.parentElement.rowIndex - 1, cell.cellIndex - 1];
  const tables = [...document.querySelectorAll("table")];
  const pointed = tables.indexOf(cell.closest("table"));
  hideTip();
  tables.forEach((table) => mark(table, row, column));
  const values = panels.flatMap((panel, index) => {
    const className = index === pointed && panels.length > 1 ? "pointed" : "";
    const value = exactNumber(panel.values[row][column], panel);
    return [element("dt", { className, textContent: panel.name }), element("dd", { className, textContent: value })];
  });
  const tokens = element("div", {}, element("bdi", { textContent: view.target[row] }), " ← ");
  tokens.append(element("bdi", { textContent: view.source[column] }));
  const tip = byId("tip");
  tip.replaceChildren(tokens, element("dl", {}, ...values));
  tip.hidden = false;
  place(tip, cell.getBoundingClientRect());
}

/** Puts the tip below and to the right of the cell, or at its other side near the edge of the window. */
function place(tip, cell) {
  const { width, height } = tip.getBoundingClientRect();
  const left = cell.right + 10 + width > innerWidth ? cell.left - 10 - width : cell.right + 10;
  const top = cell.bottom + 10 + height > innerHeight ? cell.top - 10 - height : cell.bottom + 10;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

function mark(table, row, column) {
  const line = table.rows[row + 1];
  const cell = line.cells[column + 1];
  const [across, down] = table.parentElement.querySelectorAll(".band");
  const body = table.tBodies[0];
  const put = (band, left, top, width, height) => {
    Object.assign(band.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    band.hidden = false;
  };
  const first = line.cells[1];
  put(across, first.offsetLeft, cell.offsetTop, table.offsetWidth - first.offsetLeft, cell.offsetHeight);
  put(down, cell.offsetLeft, body.offsetTop, cell.offsetWidth, body.offsetHeight);
  line.cells[0].classList.add("here");
  table.rows[0].cells[column + 1].classList.add("here");
}

function hideTip() {
  byId("tip").hidden = true;
  document.querySelectorAll(".band").forEach((band) => (band.hidden = true));
  document.querySelectorAll("th.here").forEach((cell) => cell.classList.remove("here"));
}

/** The arrow keys move from cell to cell; one cell of a table at a time can be reached by Tab. */
function moveFocus(event) {
  const cell = event.target.closest("td");
  if (event.key === "Escape") return hideTip();
  const line = cell?.parentElement;
  const next = {
    ArrowRight: () => cell.nextElementSibling,
    ArrowLeft: () => cell.previousElementSibling,
    ArrowDown: () => line.nextElementSibling?.cells[cell.cellIndex],
    ArrowUp: () => line.previousElementSibling?.cells[cell.cellIndex],
    Home: () => line.cells[1],
    End: () => line.cells[line.cells.length - 1],
  }[event.key];
  if (!cell || !next) return;
  event.preventDefault();
  const target = next();
  if (target?.tagName !== "TD") return;
  cell.tabIndex = -1;
  target.tabIndex = 0;
  target.focus();
}

function picture() {
  const view = currentView();
  return drawPicture(chosen().title, view, currentPanels(view));
}

const titles = data.heatmaps.map((heatmap, index) => `${index + 1}. ${isolated(heatmap.title)}`);
byId("chooser").replaceChildren(...titles.map((title, index) => element("option", { value: String(index), textContent: title })));
byId("chooser-label").hidden = titles.length < 2;
byId("chooser").addEventListener("change", () => { prepareControls(); draw(); });
for (const id of ["panels", "merge", "end"]) byId(id).addEventListener("change", draw);
byId("controls").addEventListener("submit", (event) => event.preventDefault());
byId("download-svg").addEventListener("click", () => saveFile(svgBlob(picture()), "heatmap.svg"));
byId("download-png").addEventListener("click", async () => saveFile(await pngBlob(picture()), "heatmap.png"));
const figures = byId("figures");
figures.addEventListener("pointerover", (event) => (event.target.closest("td") ? showTip(event.target) : hideTip()));
figures.addEventListener("pointerleave", hideTip);
figures.addEventListener("focusin", (event) => event.target.closest("td") && showTip(event.target));
figures.addEventListener("focusout", hideTip);
figures.addEventListener("keydown", moveFocus);
addEventListener("scroll", hideTip, { capture: true, passive: true });
if (data.heatmaps.length > 0) {
  prepareControls();
  draw();
}
