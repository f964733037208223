// The page: a table per panel, or all heads small, and the choice of what is shown.

const chosen = () => data.heatmaps[Number(byId("chooser").value) || 0];
const chosenChart = () => chosen().charts[Number(byId("chart").value) || 0];
/** What is shown now: the chart, its view, and the panels of it. */
let shown;

/** The view that the switches ask for. All views were made by the program, so there is no arithmetic here. */
function currentView({ views }) {
  const merged = byId("merge").checked;
  const endless = byId("end").checked;
  return (
    views.find((view) => view.merged === merged && view.endless === endless) ??
    views.find((view) => view.merged === merged) ?? views.find((view) => view.endless === endless) ?? views[0]
  );
}

function currentPanels({ grid }, view) {
  if (grid) {
    const layer = Number(byId("layer").value) || null;
    return view.panels.filter((panel) => panel.layer === layer && panel.head === byId("head").value).slice(0, 1);
  }
  const wanted = byId("panels").value;
  return wanted === "all" ? view.panels : view.panels.filter((_, index) => String(index) === wanted);
}

/** Fills the controls for a sentence, and leaves out those that would do nothing. */
function prepareControls() {
  const { title, charts } = chosen();
  byId("title").textContent = isolated(title) || "Where the model looks";
  fillSelect("chart", charts.map((chart, index) => [String(index), chart.name]));
  prepareChart();
}

function prepareChart() {
  const { grid, views, specials } = chosenChart();
  byId("merge-label").hidden = !views.some((view) => view.merged);
  byId("end-label").hidden = !views.some((view) => view.endless);
  byId("end-name").textContent = specials > 1 ? "hide special tokens" : "hide end token";
  const panels = grid ? [] : views[0].panels.map((panel, index) => [String(index), panel.name]);
  fillSelect("panels", panels.length > 1 ? [["all", "all side by side"], ...panels] : [["all", ""]]);
  const layers = grid?.layers.map((layer) => [String(layer), `layer ${layer}`]) ?? [];
  fillSelect("layer", layers.length > 1 ? [["all", "all layers"], ...layers] : layers);
  prepareHeads();
}

/** Heads have numbers within a layer only; over all layers there are the mean and the maximum. */
function prepareHeads() {
  const { grid, views } = chosenChart();
  const names = { mean: "mean of heads", max: "maximum of heads" };
  const layer = Number(byId("layer").value) || null;
  const of = grid ? views[0].panels.filter((panel) => panel.layer === layer) : [];
  const combined = of.filter((panel) => panel.head in names);
  const options = [...combined, ...of.filter((panel) => !(panel.head in names))];
  fillSelect("head", options.map(({ head }) => [head, names[head] ?? `head ${head}`]));
  const several = grid !== null && grid.layers.length * grid.heads > 1;
  byId("all-label").hidden = !several;
  if (several && byId("all").checked) for (const id of ["layer", "head"]) byId(`${id}-label`).hidden = true;
}

function tableOf(panel, { columns, rows: names }, view) {
  const cell = cellSize(view);
  const head = element("tr", {}, element("th", { textContent: `${columns} →\n${names} ↓` }));
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

function figureOf(panel, chart, view) {
  const caption = element("figcaption", {}, element("bdi", { textContent: panel.name }));
  if (panel.caption) caption.append(" ", element("span", { className: "unit", textContent: panel.caption }));
  const bands = ["across", "down"].map((name) => element("div", { className: `band ${name}`, hidden: true }));
  const stage = element("div", { className: "stage" }, tableOf(panel, chart, view), ...bands);
  const steps = scaleSteps(panel.scale).map((step) => element("span", { className: stepClass(step, panel.scale) }));
  const bar = element("div", { className: "bar" }, ...steps);
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `colours from ${panel.ticks[0]} to ${panel.ticks[2]}`);
  const ticks = element("div", { className: "bar-ticks" }, ...panel.ticks.map((tick) => element("span", { textContent: tick })));
  return element("figure", {}, caption, element("div", { className: "scroll" }, stage), bar, ticks);
}

const showsAll = ({ grid }) => grid !== null && byId("all").checked && grid.layers.length * grid.heads > 1;

function hintFor(chart) {
  const { grid, rows, columns } = chart;
  const axes = grid ? `Rows are ${rows} tokens, columns the ${columns} tokens that they look at.` : `Rows are ${rows} tokens, columns ${columns} tokens.`;
  const uses = showsAll(chart) ? "Point at a head for its values, and open it with a click." : "Point at a cell for its value, or move with the arrow keys.";
  return `${axes} ${uses}`;
}

function draw() {
  hideTip();
  const chart = chosenChart();
  const view = currentView(chart);
  shown = { chart, view, panels: currentPanels(chart, view) };
  const figures = showsAll(chart) ? [headsFigure(chart, view)] : shown.panels.map((panel) => figureOf(panel, chart, view));
  byId("figures").replaceChildren(...figures);
  byId("hint").textContent = hintFor(chart);
}

/** Shows one of the small heads large; who came with the keyboard goes on there. */
function openHead({ panel }, byKeyboard) {
  byId("all").checked = false;
  const { layers } = shown.chart.grid;
  if (layers.length > 1) byId("layer").value = String(panel.layer);
  prepareHeads();
  byId("layer-label").hidden = layers.length < 2;
  byId("head").value = panel.head;
  draw();
  if (byKeyboard) byId("figures").querySelector("td").focus();
}

function picture() {
  const { chart, view, panels } = shown;
  const { title } = chosen();
  return showsAll(chart) ? headsPicture(title, chart, view) : drawPicture(title, chart, view, panels);
}

/** What the program was asked to show first. */
function applyStart({ chart, layer, head, all, merged, endless }) {
  byId("all").checked = all;
  byId("merge").checked = merged;
  byId("end").checked = endless;
  byId("chart").value = String(chart);
  prepareChart();
  if (layer !== null && chosenChart().grid?.layers.length > 1) byId("layer").value = String(layer);
  prepareHeads();
  if ([...byId("head").options].some(({ value }) => value === head)) byId("head").value = head;
}

const titles = data.heatmaps.map((heatmap, index) => `${index + 1}. ${isolated(heatmap.title)}`);
fillSelect("chooser", titles.map((title, index) => [String(index), title]));
byId("chooser").addEventListener("change", () => { prepareControls(); draw(); });
byId("chart").addEventListener("change", () => { prepareChart(); draw(); });
byId("layer").addEventListener("change", () => { prepareHeads(); draw(); });
byId("all").addEventListener("change", () => { prepareChart(); draw(); });
for (const id of ["panels", "head", "merge", "end"]) byId(id).addEventListener("change", draw);
byId("controls").addEventListener("submit", (event) => event.preventDefault());
byId("download-svg").addEventListener("click", () => saveFile(svgBlob(picture()), "heatmap.svg"));
byId("download-png").addEventListener("click", async () => saveFile(await pngBlob(picture()), "heatmap.png"));
const figures = byId("figures");
figures.addEventListener("pointerover", (event) => (event.target.closest("td") ? showTip(event.target) : hideTip()));
figures.addEventListener("pointermove", (event) => event.target.closest(".heads") && showHeadTip(event));
figures.addEventListener("pointerleave", hideTip);
figures.addEventListener("click", (event) => event.target.closest(".head") && openHead(event.target.closest(".head"), false));
figures.addEventListener("focusin", (event) => event.target.closest("td") && showTip(event.target));
figures.addEventListener("focusout", hideTip);
figures.addEventListener("keydown", (event) => {
  const head = event.target.closest(".head");
  if (!head) return moveFocus(event);
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  openHead(head, true);
});
addEventListener("scroll", hideTip, { capture: true, passive: true });
if (data.heatmaps.length > 0) {
  prepareControls();
  applyStart(data.start);
  draw();
}
