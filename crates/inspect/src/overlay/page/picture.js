// The pictures that are downloaded: what the page shows, as one SVG.

const inks = { text: "#222222", quiet: "#666666", line: "#c4c7cc" };

/** Starts a picture on a light ground, with the image and its shade to be used in it. */
function startPicture(title, picture) {
  const svg = document.createElementNS(svgSpace, "svg");
  svgElement("title", {}, svg, title);
  svgElement("style", {}, svg, `svg { font: ${font(12)}; } text { fill: currentColor; }`);
  svgElement("rect", { width: "100%", height: "100%", fill: "#ffffff" }, svg);
  const shared = svgElement("defs", {}, svg);
  const unit = { width: 1, height: 1, preserveAspectRatio: "none" };
  svgElement("image", { id: "image", ...unit, href: picture.image.src }, shared);
  svgElement("image", { id: "shade", ...unit, href: picture.shade.toDataURL() }, shared);
  return { svg, page: svgElement("g", { color: inks.text }, svg) };
}

function write(page, x, y, text, attributes = {}) {
  svgElement("text", { x, y, ...attributes }, page, isolated(text));
}

const quiet = { color: inks.quiet, "font-size": 11 };
const end = { "text-anchor": "end" };

function cutText(text, size, width) {
  if (textWidth(text, size) <= width) return text;
  const characters = [...text];
  while (characters.length > 1 && textWidth(`${characters.join("")}…`, size) > width) characters.pop();
  return `${characters.join("")}…`;
}

/** Lays the image or its shade over a part of the picture. */
function use(page, name, [x, y, width, height]) {
  svgElement("use", { href: `#${name}`, transform: `translate(${x} ${y}) scale(${width} ${height})` }, page);
}

/** Draws a focus with its marks. */
function drawFocus(page, { weights, limit, boxes, ring }, grid, place, smooth) {
  const [x, y, width, height] = place;
  const address = focusCanvas(weights, grid, limit, smooth).toDataURL();
  const sharp = smooth ? {} : { style: "image-rendering: pixelated" };
  svgElement("image", { x, y, width, height, preserveAspectRatio: "none", href: address, ...sharp }, page);
  use(page, "shade", place);
  const mark = (name, attributes, dashed) => {
    svgElement(name, { ...attributes, fill: "none", stroke: "#000000", "stroke-opacity": 0.6, "stroke-width": 2.4 }, page);
    svgElement(name, { ...attributes, fill: "none", stroke: "#ffffff", "stroke-width": 1.1, ...(dashed ? { "stroke-dasharray": "4 3" } : {}) }, page);
  };
  for (const [left, top, right, bottom] of boxes) {
    mark("rect", { x: x + left * width, y: y + top * height, width: (right - left) * width, height: (bottom - top) * height }, true);
  }
  const largest = most(weights);
  if (!ring || largest === 0) return;
  const peak = weights.indexOf(largest);
  const cx = x + (((peak % grid.columns) + 0.5) / grid.columns) * width;
  mark("circle", { cx, cy: y + ((Math.floor(peak / grid.columns) + 0.5) / grid.rows) * height, r: 4 }, false);
}

function drawBar(page, x, y, ticks) {
  const bar = svgElement("g", { "shape-rendering": "crispEdges" }, page);
  for (let step = 0; step < 33; step += 1) {
    svgElement("rect", { x: x + step * 4, y, width: 4, height: 10, fill: `rgb(${glow(step / 32).map(Math.round)})` }, bar);
  }
  svgElement("rect", { x, y, width: 132, height: 10, fill: "none", stroke: inks.line }, page);
  ticks.forEach((text, place) => {
    const at = place / (ticks.length - 1);
    write(page, x + at * 132, y + 23, text, { ...quiet, "text-anchor": at === 0 ? "start" : at === 1 ? "end" : "middle" });
  });
}

/** The image itself, and then once for every word. */
function wordsPicture(title, name, picture, grid, tiles, ticks, smooth) {
  const { svg, page } = startPicture(title, picture);
  const count = tiles.length + 1;
  const size = fitted(picture, count <= 5 ? 220 : count <= 13 ? 172 : 132);
  const pitch = [Math.max(size[0], 96) + 16, size[1] + 50];
  const columns = Math.ceil(count / Math.ceil(count / Math.max(1, Math.floor(1020 / pitch[0]))));
  const top = title ? 70 : 42;
  const place = (index) => [18 + (index % columns) * pitch[0], top + 20 + Math.floor(index / columns) * pitch[1], ...size];
  const width = Math.max(18 + columns * pitch[0] + 2, 420);
  write(page, 18, 33, cutText(title, 15, width - 36), { "font-size": 15, "font-weight": 600 });
  write(page, 18, top - 11, name, { "font-size": 13, "font-weight": 600 });
  const [x, y] = place(0);
  write(page, x, y - 6, "image", quiet);
  use(page, "image", place(0));
  tiles.forEach((tile, index) => {
    const [x, y, , height] = place(index + 1);
    const right = x + pitch[0] - 16;
    drawFocus(page, tile, grid, place(index + 1), smooth);
    write(page, x, y - 6, cutText(tile.name, 13, pitch[0] - 20 - (tile.beside ? 32 : 0)), { "font-size": 13, "font-weight": 600 });
    write(page, right, y - 6, tile.beside, { ...quiet, ...end });
    write(page, x, y + height + 13, `most ${shortWeight(most(tile.weights))}`, quiet);
    write(page, right, y + height + 13, tile.agreement, { ...quiet, ...end });
  });
  const bottom = top + Math.ceil(count / columns) * pitch[1];
  drawBar(page, 18, bottom + 6, ticks);
  sizeSvg(svg, width, bottom + 50);
  return svg;
}

/** The image and the maps over all heads, and below them every head. */
function mapsPicture(title, picture, grid, { large, heads }, smooth) {
  const { svg, page } = startPicture(title, picture);
  const top = title ? 66 : 38;
  const size = fitted(picture, 240);
  write(page, 18, 33, cutText(title, 15, 960), { "font-size": 15, "font-weight": 600 });
  write(page, 18, top - 6, "image", quiet);
  use(page, "image", [18, top, ...size]);
  const draw = (map, place, ring) => drawFocus(page, { ...map, limit: most(map.weights), boxes: [], ring }, grid, place, smooth);
  const across = Math.max(1, Math.floor(1000 / (size[0] + 16)));
  const at = (index) => [18 + (index % across) * (size[0] + 16), top + Math.floor(index / across) * (size[1] + 40)];
  large.forEach((map, index) => {
    const [x, y] = at(index + 1);
    write(page, x, y - 6, cutText(map.name, 13, size[0]), { "font-size": 13, "font-weight": 600 });
    draw(map, [x, y, ...size], true);
    write(page, x, y + size[1] + 13, `most ${shortWeight(most(map.weights))}`, quiet);
  });
  const first = at(large.length)[1] + size[1] + 50;
  const columns = heads[0]?.length ?? 0;
  const small = fitted(picture, Math.max(36, Math.min(120, Math.floor(940 / Math.max(1, columns)) - 8)));
  heads.forEach((layer, row) => {
    const y = first + row * (small[1] + 8);
    write(page, 18, y + small[1] / 2 + 4, `layer ${row + 1}`, quiet);
    layer.forEach((map, column) => {
      const x = 78 + column * (small[0] + 8);
      if (row === 0) write(page, x, y - 6, small[0] >= 48 ? `head ${column + 1}` : String(column + 1), quiet);
      draw(map, [x, y, ...small], false);
    });
  });
  const bottom = first + heads.length * (small[1] + 8);
  drawBar(page, 18, bottom, ["0", "most of each map"]);
  const wide = Math.max(Math.min(large.length + 1, across) * (size[0] + 16) + 20, 78 + columns * (small[0] + 8) + 10, textWidth(title, 15) + 36);
  sizeSvg(svg, Math.ceil(Math.min(wide, 1100)), bottom + 46);
  return svg;
}
