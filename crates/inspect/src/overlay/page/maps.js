// Where a model without words looked: the maps over all heads, and every head of every layer.

/** A map that can be opened. */
function mapTile(map, picture, grid, side, label) {
  const canvas = canvasOf(...fitted(picture, 2 * side));
  const [width, height] = fitted(picture, side);
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const button = element("button", { type: "button", className: "tile" });
  button.setAttribute("aria-label", `${map.name}: most ${fullWeight(most(map.weights))}`);
  button.setAttribute("aria-pressed", "false");
  if (label) button.append(element("span", { className: "over" }, element("bdi", { textContent: label })));
  button.append(canvas);
  button.style.width = `${width}px`;
  const draw = (smooth) => compose(canvas, picture, focusCanvas(map.weights, grid, most(map.weights), smooth), smooth);
  return Object.assign(button, { map, redraw: draw });
}

/** The part of the page for maps. Gives what draws it again. */
function showMaps({ title, grid, large, heads }, picture) {
  const canvas = byId("map").cloneNode(true);
  byId("map").replaceWith(canvas);
  const stage = new Stage(canvas, picture, grid, 960);
  canvas.setAttribute("aria-label", `${title || "image"} in ${grid.rows} × ${grid.columns} regions; arrow keys move between them`);
  const overall = large.map((map) => mapTile(map, picture, grid, 132, map.name));
  const columns = heads[0]?.length ?? 0;
  const room = byId("heads").parentElement.clientWidth - 56;
  const side = Math.max(28, Math.min(96, Math.floor(room / Math.max(1, columns)) - 6));
  const rows = heads.map((layer) => layer.map((map) => mapTile(map, picture, grid, side, "")));
  const label = (text) => element("span", { className: "label", textContent: text });
  byId("map-large").replaceChildren(...(large.length > 1 ? overall : []));
  byId("map-large").hidden = large.length < 2;
  byId("heads").style.gridTemplateColumns = `repeat(${columns + 1}, max-content)`;
  const names = rows[0]?.map((_, head) => label(side >= 48 ? `head ${head + 1}` : String(head + 1))) ?? [];
  byId("heads").replaceChildren(...(rows.length > 0 ? [label("")] : []), ...names,
    ...rows.flatMap((layer, row) => [label(`layer ${row + 1}`), ...layer]));
  const tiles = [...overall, ...rows.flat()];
  let [open, region] = [large[0] ?? heads[0][0], null];
  const draw = () => stage.draw({ weights: open.weights, limit: most(open.weights), region, smooth: byId("smooth").checked });
  const show = (map) => {
    open = map;
    byId("map-name").textContent = isolated(map.name);
    tiles.forEach((tile) => tile.setAttribute("aria-pressed", String(tile.map === map)));
    fillLegend("map-legend", ["0", shortWeight(most(map.weights) / 2), shortWeight(most(map.weights))]);
    draw();
  };
  tiles.forEach((tile) => tile.addEventListener("click", () => show(tile.map === open && large[0] ? large[0] : tile.map)));
  stage.onRegion((at) => {
    region = at;
    draw();
    tellRegion(stage, region, [[open.name, open.weights]]);
  });
  show(open);
  return () => {
    tiles.forEach((tile) => tile.redraw(byId("smooth").checked));
    draw();
  };
}
