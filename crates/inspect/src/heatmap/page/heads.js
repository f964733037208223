// All heads of an attention at once, small, with a layer in every row: on the page, and as a picture.

/** Colours of lines and text: those of the page as it is now, and those of a picture on a light ground. */
const pageInks = { text: "currentColor", quiet: "var(--quiet)", line: "var(--line)" };
const pictureInks = { text: "#222222", quiet: "#666666", line: "#c4c7cc" };

/** The measures of the heads: cells are as large as leaves the whole within a window. */
function headMeasures(chart, view) {
  const { layers, heads } = chart.grid;
  const [rows, columns] = [view.target.length, view.source.length];
  const room = Math.min((1200 / heads - 16) / columns, (1000 / layers.length - 36) / rows);
  const cell = Math.floor(Math.max(2, Math.min(room, 16)));
  const labelled = cell >= 9;
  const size = Math.min(cell - 1, 12);
  const widest = (tokens) => (labelled ? Math.max(...tokens.map((token) => textWidth(cutToken(token, 16), size))) : 0);
  const corner = Math.max(...[chart.columns, chart.rows].map((name) => textWidth(`${name} →`, 11)));
  const left = Math.ceil(18 + Math.max(widest(view.target), corner, 56) + 8);
  const above = Math.ceil(Math.max(widest(view.source), 24) + 8);
  const across = Math.max(columns * cell, 52) + 16;
  const down = rows * cell + 36;
  return { cell, labelled, size, left, above, across, down, rows, columns };
}

/** Draws all heads from `top` on. Gives the parts that can be pointed at. */
function drawHeads(svg, chart, view, top, inks) {
  const m = headMeasures(chart, view);
  const panels = view.panels.slice(0, chart.grid.layers.length * chart.grid.heads);
  const limit = Math.max(...panels.map((panel) => panel.limit));
  const page = svgElement("g", { color: inks.text }, svg);
  const write = (x, y, text, attributes = {}) => svgElement("text", { x, y, ...attributes }, page, isolated(text));
  const quiet = { color: inks.quiet, "font-size": 11 };
  const end = { "text-anchor": "end" };
  const first = top + 20 + m.above;
  write(m.left - 8, first - 20, `${chart.columns} →`, { ...quiet, ...end });
  write(m.left - 8, first - 6, `${chart.rows} ↓`, { ...quiet, ...end });

  chart.grid.layers.forEach((layer, row) => {
    const y = first + row * m.down;
    write(18, row === 0 ? top + 14 : y - 6, `layer ${layer}`, { "font-size": 12, "font-weight": 600 });
    if (!m.labelled) return;
    view.target.forEach((token, at) => {
      write(m.left - 8, y + (at + 0.5) * m.cell + 0.36 * m.size, cutToken(token, 16), { ...end, "font-size": m.size });
    });
  });

  const parts = panels.map((panel, index) => {
    const [row, column] = [Math.floor(index / chart.grid.heads), index % chart.grid.heads];
    const [x, y] = [m.left + column * m.across, first + row * m.down];
    write(x, row === 0 ? top + 14 : y - 6, `head ${column + 1}`, quiet);
    if (row === 0 && m.labelled) {
      view.source.forEach((token, at) => {
        const foot = x + (at + 0.5) * m.cell + 0.36 * m.size;
        write(foot, y - 5, cutToken(token, 16), { "font-size": m.size, transform: `rotate(-90 ${foot} ${y - 5})` });
      });
    }
    const part = svgElement("g", { class: "head", "shape-rendering": "crispEdges" }, page);
    svgElement("title", {}, part, panel.name);
    paths(panel, limit, x, y, m.cell).forEach((attributes) => svgElement("path", attributes, part));
    const frame = { x: x - 0.5, y: y - 0.5, width: m.columns * m.cell + 1, height: m.rows * m.cell + 1 };
    svgElement("rect", { ...frame, class: "frame", fill: "none", stroke: inks.line }, part);
    return Object.assign(part, { panel });
  });

  const bottom = first + chart.grid.layers.length * m.down - 36;
  const scale = { ...panels[0], limit, ticks: panels.find((panel) => panel.limit === limit).ticks };
  drawBar(page, m.left, bottom + 12, scale, { fill: "none", stroke: inks.line });
  scale.ticks.forEach((text, place) => {
    write(m.left + place * 66, bottom + 35, text, { ...quiet, "text-anchor": ["start", "middle", "end"][place] });
  });
  const width = Math.max(m.left + chart.grid.heads * m.across - 16, m.left + 140) + 18;
  sizeSvg(svg, Math.ceil(width), Math.ceil(bottom + 48));
  return parts;
}

/** A path for each colour of a head, which takes far less than a rectangle for each cell. */
function paths(panel, limit, left, top, cell) {
  const found = new Map();
  panel.values.forEach((values, row) => values.forEach((value, column) => {
    const name = valueClass(value, { ...panel, limit });
    const square = `M${left + column * cell} ${top + row * cell}h${cell}v${cell}h-${cell}z`;
    found.set(name, (found.get(name) ?? "") + square);
  }));
  return [...found].map(([name, d]) => ({ class: name, d }));
}

/** The heads as they stand on the page: each can be pointed at and opened. */
function headsFigure(chart, view) {
  const svg = document.createElementNS(svgSpace, "svg");
  const parts = drawHeads(svg, chart, view, 0, pageInks);
  parts.forEach((part) => {
    part.setAttribute("role", "button");
    part.setAttribute("tabindex", "0");
    part.setAttribute("aria-label", part.panel.name);
    part.querySelector("title").remove(); // the tip says more
  });
  const caption = element("figcaption", {}, element("bdi", { textContent: `${chart.name}: all heads` }));
  return element("figure", { className: "heads" }, caption, element("div", { className: "scroll" }, svg));
}

/** The heads as a picture of their own. */
function headsPicture(title, chart, view) {
  const svg = document.createElementNS(svgSpace, "svg");
  startPicture(svg, title);
  const page = svgElement("g", { color: pictureInks.text }, svg);
  svgElement("text", { x: 18, y: 33, "font-size": 15, "font-weight": 600 }, page, isolated(title));
  svgElement("text", { x: 18, y: 57, "font-size": 13, "font-weight": 600 }, page, chart.name);
  drawHeads(svg, chart, view, 66, pictureInks);
  sizeSvg(svg, Math.max(Number(svg.getAttribute("width")), Math.ceil(textWidth(title, 15)) + 40), Number(svg.getAttribute("height")));
  return svg;
}
