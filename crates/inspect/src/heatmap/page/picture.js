// The picture that is downloaded: what the page shows, as one SVG.

/** Cuts a token that would need more room than it may have. */
function cutToken(text, most = 24) {
  const characters = [...text];
  return characters.length > most ? characters.slice(0, most - 1).join("") + "…" : text;
}

/** What every picture begins with: its name, its colours and a light ground. */
function startPicture(svg, title) {
  svgElement("title", {}, svg, title);
  svgElement("style", {}, svg, `svg { font: ${font(12)}; } text { fill: currentColor; }\n${data.style}`);
  svgElement("rect", { width: "100%", height: "100%", fill: "#ffffff" }, svg);
}

/** Draws some panels of a view one beside the other, on a light ground. Gives the SVG element. */
function drawPicture(title, chart, view, panels) {
  const margin = 18;
  const cell = cellSize(view);
  const rows = view.target.map((token) => cutToken(token));
  const columns = view.source.map((token) => cutToken(token));
  const { labelSize, flat } = cell;
  const widest = (labels) => Math.max(...labels.map((label) => textWidth(label, labelSize)));
  const labelHeight = flat ? 22 : widest(columns) + 10;
  const left = margin + Math.max(widest(rows), 60) + 8 + (view.probabilities ? 36 : 0);
  const top = margin + 26 + 24 + labelHeight;
  const names = panels.map((panel) => textWidth(panel.name + panel.caption, 13) + 16);
  const pitch = Math.max(columns.length * cell.width, 160, ...names) + 30;
  const width = Math.ceil(Math.max(left + panels.length * pitch - 30 + margin, textWidth(title, 15) + 2 * margin));
  const height = Math.ceil(top + rows.length * cell.height + 48);

  const svg = document.createElementNS(svgSpace, "svg");
  sizeSvg(svg, width, height);
  startPicture(svg, title);
  const page = svgElement("g", { color: "#222222" }, svg);
  const write = (x, y, text, attributes = {}) => svgElement("text", { x, y, ...attributes }, page, isolated(text));
  const quiet = { color: "#666666", "font-size": 11 };
  const end = { "text-anchor": "end" };

  write(margin, margin + 15, title, { "font-size": 15, "font-weight": 600 });
  const labelEnd = left - 8 - (view.probabilities ? 36 : 0);
  write(labelEnd, top - 20, `${chart.columns} →`, { ...quiet, ...end });
  write(labelEnd, top - 6, `${chart.rows} ↓`, { ...quiet, ...end });
  rows.forEach((label, row) => {
    const y = top + (row + 0.5) * cell.height + 0.36 * labelSize;
    write(labelEnd, y, label, { ...end, "font-size": labelSize });
    if (view.probabilities) {
      write(left - 8, y, view.probabilities[row].toFixed(2), { ...quiet, ...end, "font-size": Math.min(labelSize, 11) });
    }
  });

  panels.forEach((panel, index) => {
    const start = left + index * pitch;
    write(start, top - labelHeight - 8, `${panel.name} ${panel.caption}`.trim(), { "font-size": 13, "font-weight": 600 });
    columns.forEach((label, column) => {
      const x = start + (column + 0.5) * cell.width;
      if (flat) return write(x, top - 7, label, { "text-anchor": "middle", "font-size": labelSize });
      const [foot, y] = [x + 0.36 * labelSize, top - 6];
      write(foot, y, label, { "font-size": labelSize, transform: `rotate(-90 ${foot} ${y})` });
    });
    panel.values.forEach((values, row) => values.forEach((value, column) => {
      const group = svgElement("g", { class: valueClass(value, panel) }, page);
      const [x, y] = [start + column * cell.width, top + row * cell.height];
      svgElement("title", {}, group, `${rows[row]} ← ${columns[column]}: ${exactNumber(value, panel)}`);
      svgElement("rect", { x: x + 0.5, y: y + 0.5, width: cell.width - 1, height: cell.height - 1 }, group);
      if (cell.small) return;
      const middle = { x: x + cell.width / 2, y: y + cell.height / 2 + 4, "text-anchor": "middle", "font-size": 11 };
      svgElement("text", middle, group, shortNumber(value, panel));
    }));
    const frame = { fill: "none", stroke: "#c4c7cc" };
    const [across, down] = [columns.length * cell.width, rows.length * cell.height];
    svgElement("rect", { x: start - 0.5, y: top - 0.5, width: across + 1, height: down + 1, ...frame }, page);
    drawBar(page, start, top + down + 12, panel, frame);
    panel.ticks.forEach((text, place) => {
      write(start + place * 66, top + down + 35, text, { ...quiet, "text-anchor": ["start", "middle", "end"][place] });
    });
  });
  return svg;
}

/** What the colours mean. */
function drawBar(parent, x, y, panel, frame) {
  const steps = scaleSteps(panel.scale);
  const width = 132 / steps.length;
  const bar = svgElement("g", { "shape-rendering": "crispEdges" }, parent);
  steps.forEach((step, place) => {
    svgElement("rect", { x: x + place * width, y, width, height: 10, class: stepClass(step, panel.scale) }, bar);
  });
  svgElement("rect", { x, y, width: 132, height: 10, ...frame }, parent);
}
