// The page: a large image, the words of its caption and a small image for each of them; and maps, if there are any.

const chosen = () => data.items[Number(byId("chooser").value) || 0];
const checked = (id) => byId(id).checked;
/** What is shown now, and what draws it again. */
let shown = { words: [], redraw: () => {} };
/** The word whose focus stays. */
let pinned = null;
/** How often something was chosen: what was loaded for an earlier choice is not shown. */
let turns = 0;

/** What the colours mean. */
function fillLegend(id, ticks) {
  const steps = Array.from({ length: 33 }, (_, step) => {
    const part = element("span", {});
    part.style.background = `rgb(${glow(step / 32).map(Math.round)})`;
    return part;
  });
  const bar = element("div", { className: "bar" }, ...steps);
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `colours from ${ticks[0]} to ${ticks.at(-1)}`);
  const below = element("div", { className: "bar-ticks" }, ...ticks.map((tick) => element("span", { textContent: tick })));
  byId(id).replaceChildren(bar, below);
}

/** What is known of a word, in a sentence. */
function story({ word, weights, probability, inside, hit }) {
  const parts = [`most weight ${fullWeight(most(weights))}`];
  if (probability !== null) parts.unshift(`probability ${probability.toFixed(4)}`);
  const agrees = inside === null ? "" : ` Inside the box: ${Math.round(100 * inside)} % of the weight, ${hit ? "and" : "but not"} the most.`;
  return [element("bdi", { textContent: word }), `: ${parts.join(", ")}.${agrees}`];
}

function tileOf(focus, picture) {
  const canvas = canvasOf(...fitted(picture, 288));
  const [width, height] = fitted(picture, 144);
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const text = (name, className, textContent) => element(name, { className, textContent });
  const over = element("span", { className: "over" }, text("bdi", "", focus.word), text("span", "quiet", focus.probability?.toFixed(2) ?? ""));
  const below = element("span", { className: "below" }, text("span", "quiet", `most ${shortWeight(most(focus.weights))}`), text("span", "quiet", agreement(focus)));
  const tile = element("div", { className: "tile" }, over, canvas, below);
  tile.style.width = `${Math.max(width, 96)}px`;
  tile.title = focus.word;
  return tile;
}

/** The part of the page for a caption. Gives what draws it again. */
function showCaption({ title, grid, views }, picture) {
  const words = (views[Number(byId("view").value)] ?? views[0]).words;
  const canvas = byId("large").cloneNode(true);
  byId("large").replaceWith(canvas);
  const stage = new Stage(canvas, picture, grid, 960);
  canvas.setAttribute("aria-label", `${title || "image"} in ${grid.rows} × ${grid.columns} regions; arrow keys move between them`);
  let [pointed, region] = [null, null];
  let limits = limitsOf(words, checked("alike"));
  const tiles = words.map((focus) => tileOf(focus, picture));
  byId("tiles").replaceChildren(...tiles);
  const large = () => {
    const index = pointed ?? pinned;
    const focus = index === null ? {} : words[index];
    const boxes = checked("boxes") ? focus.boxes : [];
    stage.draw({ weights: focus.weights, limit: limits[index], boxes, region, smooth: checked("smooth") });
    byId("told").replaceChildren(...(index === null ? [] : story(focus)));
    buttons.forEach((button, at) => {
      button.classList.toggle("on", at === index);
      button.setAttribute("aria-pressed", String(at === pinned));
      tiles[at].classList.toggle("on", at === index);
    });
  };
  const point = (index) => { pointed = index; large(); };
  const pin = (index) => { pinned = pinned === index ? null : index; large(); };
  const buttons = wordRow(byId("words"), words, [], { point, pin });
  tiles.forEach((tile, index) => {
    tile.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && point(index));
    tile.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && point(null));
    tile.addEventListener("click", () => pin(index));
  });
  stage.onRegion((at) => {
    region = at;
    lightWords(buttons, words, limits, region);
    large();
    tellRegion(stage, region, words.map(({ word, weights }) => [word, weights]));
  });
  const redraw = () => {
    const alike = checked("alike");
    limits = limitsOf(words, alike);
    const limit = limits[0];
    fillLegend("legend", alike ? ["0", shortWeight(limit / 2), shortWeight(limit)] : ["0", "most of the word"]);
    tiles.forEach((tile, index) => {
      const boxes = checked("boxes") ? words[index].boxes : [];
      const small = new Stage(tile.querySelector("canvas"), picture, grid, 288);
      small.draw({ weights: words[index].weights, limit: limits[index], boxes, smooth: checked("smooth") });
    });
    large();
  };
  return { words, redraw };
}

/** Shows what was chosen, with the controls that do something. */
async function show() {
  const turn = (turns += 1);
  const { title, caption, maps } = chosen();
  byId("tip").hidden = true;
  byId("title").textContent = isolated(title) || "Where the model looks";
  byId("caption").hidden = caption === null;
  byId("maps").hidden = maps === null;
  byId("download").hidden = caption === null;
  byId("alike-label").hidden = (caption?.views[0].words.length ?? 0) < 2;
  const views = caption?.views ?? [];
  fillSelect("view", views.map(({ name }, index) => [String(index), name]));
  byId("boxes-label").hidden = !views.some(({ words }) => words.some(({ boxes }) => boxes.length > 0));
  const mouse = matchMedia("(hover: hover)").matches;
  byId("hint").textContent = mouse
    ? "Point at a word for where the model looked as it wrote it, and click to keep it. Point at the image for the words that looked there. With the keyboard: Tab to the words or to the image, then the arrow keys."
    : "Tap a word for where the model looked as it wrote it. Tap the image for the words that looked there.";
  const load = async (part) => part && { part, picture: await loadPicture(data.pictures[part.picture]) };
  const [told, mapped] = await Promise.all([load(caption), load(maps)]);
  if (turn !== turns) return;
  const parts = [];
  shown = { told, mapped, words: [], redraw: () => parts.forEach((redraw) => redraw()) };
  if (told) {
    const { words, redraw } = showCaption(caption, told.picture);
    shown.words = words;
    parts.push(redraw);
  }
  if (mapped) parts.push(showMaps(maps, mapped.picture));
  shown.redraw();
  document.body.dataset.ready = "true";
}

function captionPicture() {
  const { told, words } = shown;
  const limits = limitsOf(words, checked("alike"));
  const tiles = words.map((focus, index) => ({
    ...focus, name: focus.word, beside: focus.probability?.toFixed(2) ?? "", agreement: agreement(focus), limit: limits[index],
    ring: true, boxes: checked("boxes") ? focus.boxes : [],
  }));
  const ticks = checked("alike") ? ["0", shortWeight(limits[0] / 2), shortWeight(limits[0])] : ["0", "most of the word"];
  const name = (told.part.views[Number(byId("view").value)] ?? told.part.views[0]).name;
  return wordsPicture(chosen().title, name, told.picture, told.part.grid, tiles, ticks, checked("smooth"));
}

function picturesOfMaps() {
  const { part, picture } = shown.mapped;
  return mapsPicture(part.title, picture, part.grid, part, checked("smooth"));
}

fillSelect("chooser", data.items.map(({ title }, index) => [String(index), `${index + 1}. ${isolated(title)}`]));
byId("chooser").addEventListener("change", () => { pinned = null; show(); });
byId("view").addEventListener("change", show);
for (const id of ["smooth", "boxes", "alike"]) byId(id).addEventListener("change", () => shown.redraw());
byId("controls").addEventListener("submit", (event) => event.preventDefault());
for (const [id, name, draw] of [["download", "focus", captionPicture], ["maps", "maps", picturesOfMaps]]) {
  byId(`${id}-svg`).addEventListener("click", () => saveFile(svgBlob(draw()), `${name}.svg`));
  byId(`${id}-png`).addEventListener("click", async () => saveFile(await pngBlob(draw()), `${name}.png`));
}
if (data.items.length > 0) show();
