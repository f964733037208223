// Opens the pages of the heatmap gallery in a browser and uses them as a reader would.
//
//   node heatmap.mjs DIRECTORY      (what `heatmap_gallery` wrote; CHROMIUM names another browser)

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { visit } from "./visit.mjs";

const cell = (page, row, column, table = 0) =>
  page.locator("table").nth(table).locator("tbody tr").nth(row).locator("td").nth(column);
const tipText = (page) => page.locator("#tip").innerText();
const tokens = (page, scope) => page.locator("table").first().locator(`th[scope=${scope}] bdi`).allTextContents();

/** The exact values of the first table, as the tip tells them cell by cell. */
const exactValues = (page) => page.evaluate(() =>
  [...document.querySelector("table").tBodies[0].rows].map((row) =>
    [...row.cells].slice(1).map((cell) => {
      cell.focus();
      return Number(document.querySelector("#tip dd").textContent);
    })));

const sum = (values) => values.reduce((total, value) => total + value, 0);
function assertNear(actual, expected, what) {
  assert.ok(Math.abs(actual - expected) < 2e-3, `${what}: ${actual} is not near ${expected}`);
}

test("a pointed cell tells its tokens and its value", () => visit("five", async (page) => {
  assert.ok(await page.locator("#tip").isHidden());
  await cell(page, 3, 4).hover();
  assert.match(await tipText(page), /^qui ← now\s+attention\s+0\.2000$/);
  await cell(page, 1, 1).hover();
  assert.match(await tipText(page), /^gatto ← cat\s+attention\s+0\.8500$/);
  assert.deepEqual(await page.locator("th.here bdi").allTextContents(), ["cat", "gatto"]);
  const [band, pointed] = [await page.locator(".band.across").boundingBox(), await cell(page, 1, 1).boundingBox()];
  assert.ok(Math.abs(band.y - pointed.y) <= 1 && Math.abs(band.height - pointed.height) <= 1, "the row is marked");
  await page.locator("h1").hover();
  assert.ok(await page.locator("#tip").isHidden());
  assert.equal(await cell(page, 0, 0).innerText(), ".90");
  assert.equal(await page.locator(".probability").nth(3).innerText(), "0.40");
}));

test("the keyboard goes where the pointer goes", () => visit("five", async (page) => {
  await page.locator("#download-png").focus();
  await page.keyboard.press("Tab");
  if (await page.evaluate(() => document.activeElement.classList.contains("scroll"))) await page.keyboard.press("Tab");
  assert.match(await tipText(page), /^il ← the/);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  assert.match(await tipText(page), /^gatto ← cat/);
  await page.keyboard.press("End");
  assert.match(await tipText(page), /^gatto ← now/);
  await page.keyboard.press("ArrowRight");
  assert.match(await tipText(page), /^gatto ← now/, "there is no further cell");
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#tip").isHidden());
}));

test("subwords merge, the end token hides, and rows still sum to one", () => visit("subwords", async (page) => {
  const pieces = await exactValues(page);
  assert.equal(pieces.length, 7);
  pieces.forEach((row) => assertNear(sum(row), 1, "pieces"));

  await page.getByLabel("merge subwords").check();
  assert.deepEqual(await tokens(page, "col"), ["the", "unbelievable", "cat", "sleeps", "</s>"]);
  assert.deepEqual(await tokens(page, "row"), ["il", "gatto", "incredibile", "dorme", "</s>"]);
  const merged = await exactValues(page);
  merged.forEach((row) => assertNear(sum(row), 1, "words"));
  // "incredibile" is three pieces, "unbelievable" too.
  const probability = async (row) => Number(await page.locator(".probability").nth(row).innerText());
  assert.ok(Math.abs((await probability(2)) - 0.82 * 0.91 * 0.82) < 0.02, "a word is as probable as all of its pieces");
  assertNear(merged[2][1], sum([2, 3, 4].map((row) => sum(pieces[row].slice(1, 4)))) / 3, "a word of pieces");

  await page.getByLabel("hide end token").check();
  assert.deepEqual(await tokens(page, "col"), ["the", "unbelievable", "cat", "sleeps"]);
  const endless = await exactValues(page);
  assert.equal(endless.length, 4);
  endless.forEach((row) => assertNear(sum(row), 1, "words without the end"));
  assertNear(endless[3][3], merged[3][3] / (1 - merged[3][4]), "divided by what is left");

  await page.getByLabel("merge subwords").uncheck();
  const cut = await exactValues(page);
  assert.deepEqual([cut.length, cut[0].length], [6, 7]);
  cut.forEach((row) => assertNear(sum(row), 1, "pieces without the end"));
}));

test("switches that would do nothing are not there", () => visit("five", async (page) => {
  for (const id of ["merge", "end", "panels", "chooser", "chart", "layer", "head", "all"]) assert.ok(await page.locator(`#${id}`).isHidden(), id);
}));

async function download(page, kind) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(`#download-${kind}`)]);
  assert.equal(file.suggestedFilename(), `heatmap.${kind}`);
  return readFile(await file.path());
}

for (const name of ["five", "subwords", "right_to_left", "explained", "hostile"]) {
  test(`the picture of ${name} can be downloaded`, () => visit(name, async (page) => {
    const svg = (await download(page, "svg")).toString();
    // Read in another page: this one forbids style sheets that are not its own.
    const blank = await page.context().newPage();
    const found = await blank.evaluate((text) => {
      const picture = new DOMParser().parseFromString(text, "image/svg+xml");
      return {
        broken: picture.querySelector("parsererror")?.textContent ?? null,
        width: Number(picture.documentElement.getAttribute("width")),
        cells: picture.querySelectorAll("g > title + rect").length,
        foreign: picture.querySelectorAll("script, img, foreignObject").length,
        texts: [...picture.querySelectorAll("text")].map((text) => text.textContent.replace(/[\u2068\u2069]/g, "")),
      };
    }, svg);
    assert.equal(found.broken, null);
    assert.equal(found.foreign, 0);
    assert.equal(found.cells, await page.locator("td").count());
    for (const token of await tokens(page, "col")) {
      const label = [...token].length > 24 ? [...token].slice(0, 23).join("") + "…" : token;
      assert.ok(found.texts.includes(label), `${label} is in the picture`);
    }
    const png = await download(page, "png");
    assert.equal(png.subarray(0, 8).toString("latin1"), "\x89PNG\r\n\x1a\n");
    assert.equal(png.readUInt32BE(16), found.width * 2);
    // The cells of the picture have the colours of the cells of the page, so its style sheet was used.
    const colours = await blank.evaluate(coloursOf, png.toString("base64"));
    const wanted = await cell(page, 1, 1).evaluate((cell) => getComputedStyle(cell).backgroundColor);
    assert.ok(colours.includes(wanted), `${wanted} is in the picture`);
  }));
}

/** The colours of a PNG's pixels. Runs in the browser. */
async function coloursOf(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(image.width, image.height);
  const surface = canvas.getContext("2d");
  surface.drawImage(image, 0, 0);
  const { data } = surface.getImageData(0, 0, image.width, image.height);
  const colours = new Set();
  for (let at = 0; at < data.length; at += 4) colours.add(`rgb(${data[at]}, ${data[at + 1]}, ${data[at + 2]})`);
  return [...colours];
}

test("hostile text is shown as text", () => visit("hostile", async (page) => {
  const shown = await tokens(page, "col");
  assert.equal(shown[0], "</script><img src=x onerror=window.harmed=1>");
  assert.equal(await page.locator("h1").innerText(), "<script>window.harmed=1</script>");
  assert.equal(await page.title(), "<script>window.harmed=1</script>");
  assert.ok(!shown.join("").match(/[\u0000-\u001f\u202e\u2028]/), "nothing that turns or breaks a line");
  await cell(page, 0, 0).hover();
  assert.ok((await tipText(page)).includes("<b onmouseover=window.harmed=1>attention</b>"));
  assert.deepEqual(await page.evaluate(() => [window.harmed, document.images.length]), [undefined, 0]);
}));

test("the axes stay in sight with eighty tokens", () => visit("eighty", async (page) => {
  assert.equal(await page.locator("td").count(), 6400);
  const [head, scroll] = [page.locator("thead th").nth(40), page.locator(".scroll")];
  await scroll.evaluate((element) => (element.scrollTop = 300));
  const edge = (await scroll.boundingBox()).y;
  assert.ok(Math.abs((await head.boundingBox()).y - edge) < 2, "the column's label is at the edge");
  await cell(page, 60, 60).hover();
  assert.match(await tipText(page), /attention\s+0\.\d{4}$/);
}));

test("explanations stand on the same axes", () => visit("explained", async (page) => {
  assert.equal(await page.locator("table").count(), 3);
  await cell(page, 1, 2, 1).hover();
  assert.match(await tipText(page), /^gatto ← is\s+attention\s+0\.\d{4}\s+gradient × input\s+[+−]0\.00\d+\s+erasure\s+[+−]\d/);
  assert.equal(await page.locator("#tip dt.pointed").innerText(), "gradient × input");
  assert.equal(await page.locator(".band.down:visible").count(), 3);
  assert.match(await cell(page, 5, 6, 1).getAttribute("class"), /^p\d+$/);
  assert.match(await cell(page, 0, 4, 2).getAttribute("class"), /^n\d+$/);
  await page.locator("#panels").selectOption("erasure");
  assert.deepEqual(await page.locator("figcaption bdi").allTextContents(), ["erasure"]);
}));

const caption = (page) => page.locator("figcaption bdi").innerText();
const shownControls = (page) => page.locator("#controls label:visible").evaluateAll((all) => all.map((label) => label.id.replace("-label", "")));

test("attention, layer and head can be chosen", () => visit("heads", async (page) => {
  assert.deepEqual(await shownControls(page), ["chart", "layer", "head", "all", "merge", "end"]);
  assert.equal(await caption(page), "cross-attention: mean of 4 heads in 2 layers");
  const options = (id) => page.locator(`#${id} option`).allTextContents();
  assert.deepEqual(await options("layer"), ["all layers", "layer 1", "layer 2"]);
  assert.deepEqual(await options("head"), ["mean of heads", "maximum of heads"]);
  const mean = await exactValues(page);
  mean.forEach((row) => assertNear(sum(row), 1, "the mean"));
  await page.locator("#head").selectOption("max");
  assert.equal(await caption(page), "cross-attention: largest of 4 heads in 2 layers");
  const most = await exactValues(page);

  await page.locator("#layer").selectOption("2");
  assert.equal(await caption(page), "cross-attention: layer 2, largest of 4 heads");
  assert.deepEqual(await options("head"), ["mean of heads", "maximum of heads", "head 1", "head 2", "head 3", "head 4"]);
  const heads = [];
  for (const head of ["1", "2", "3", "4"]) {
    await page.locator("#head").selectOption(head);
    assert.equal(await caption(page), `cross-attention: layer 2, head ${head}`);
    heads.push(await exactValues(page));
    heads.at(-1).forEach((row, at) => {
      assertNear(sum(row), 1, `head ${head}`);
      row.forEach((value, column) => assert.ok(value <= most[at][column] + 1e-4, "no head exceeds the maximum"));
    });
  }
  await page.locator("#head").selectOption("mean");
  (await exactValues(page)).forEach((row, at) => row.forEach((value, column) =>
    assertNear(value, sum(heads.map((head) => head[at][column])) / 4, "the mean of a layer")));

  await page.locator("#chart").selectOption({ label: "decoder self-attention" });
  assert.equal(await caption(page), "decoder self-attention: layer 2, mean of 4 heads", "the choice stays");
  assert.equal((await tokens(page, "col"))[0], "<s>");
  assert.equal(await page.locator("thead th").first().innerText(), "read →\nwritten ↓");
  (await exactValues(page)).forEach((row, at) =>
    row.slice(at + 1).forEach((value) => assert.equal(value, 0, "nothing that is not yet written")));
  await page.getByLabel("hide special tokens").check();
  assert.ok(!(await tokens(page, "col")).includes("<s>"));
  await page.getByLabel("merge subwords").check();
  assert.deepEqual(await tokens(page, "row"), ["il", "gatto", "incredibile", "dorme"]);
  await page.locator("#chart").selectOption({ label: "encoder self-attention" });
  assert.deepEqual(await tokens(page, "col"), await tokens(page, "row"));
}));

test("all heads can be seen at once, and one of them opened", () => visit("heads", async (page) => {
  await page.getByLabel("all heads").check();
  assert.deepEqual(await shownControls(page), ["chart", "all", "merge", "end"]);
  assert.equal(await page.locator("table").count(), 0);
  const heads = page.locator(".head");
  assert.equal(await heads.count(), 8);
  const texts = await page.locator("figure svg text").allTextContents();
  for (const text of ["layer 1", "layer 2", "head 4", "▁gatto", "believ"]) assert.ok(texts.includes(text), text);

  // The tip tells the cell below the pointer, and the head opened shows the same value there.
  const frame = await heads.nth(6).locator(".frame").boundingBox();
  await page.mouse.move(frame.x + (frame.width * 4.5) / 8, frame.y + (frame.height * 1.5) / 7);
  const told = await tipText(page);
  assert.match(told, /^▁gatto ← ▁cat\s+cross-attention: layer 2, head 3\s+0\.\d{4}$/);
  await page.mouse.click(frame.x + (frame.width * 4.5) / 8, frame.y + (frame.height * 1.5) / 7);
  assert.equal(await caption(page), "cross-attention: layer 2, head 3");
  assert.deepEqual(await shownControls(page), ["chart", "layer", "head", "all", "merge", "end"]);
  assert.deepEqual(await page.locator("#layer, #head").evaluateAll((all) => all.map(({ value }) => value)), ["2", "3"]);
  await cell(page, 1, 4).hover();
  assert.equal(await tipText(page), told);

  // The keyboard opens heads too.
  await page.getByLabel("all heads").check();
  await heads.nth(1).focus();
  await page.keyboard.press("Enter");
  assert.equal(await caption(page), "cross-attention: layer 1, head 2");
  assert.match(await tipText(page), /^il ← the/, "and goes on in its cells");

  await page.getByLabel("all heads").check();
  await page.getByLabel("merge subwords").check();
  await page.getByLabel("hide end token").check();
  const merged = await page.locator("figure svg text").allTextContents();
  assert.ok(merged.includes("unbelievable") && !merged.includes("</s>") && !merged.includes("believ"));
}));

test("the picture of all heads can be downloaded", () => visit("heads", async (page) => {
  await page.getByLabel("all heads").check();
  const svg = (await download(page, "svg")).toString();
  const blank = await page.context().newPage();
  const found = await blank.evaluate((text) => {
    const picture = new DOMParser().parseFromString(text, "image/svg+xml");
    return {
      broken: picture.querySelector("parsererror")?.textContent ?? null,
      heads: picture.querySelectorAll("g.head").length,
      width: Number(picture.documentElement.getAttribute("width")),
      texts: [...picture.querySelectorAll("text")].map((text) => text.textContent),
    };
  }, svg);
  assert.deepEqual([found.broken, found.heads], [null, 8]);
  for (const text of ["Three attentions", "cross-attention", "layer 2", "head 4", "source →"]) assert.ok(found.texts.includes(text), text);
  const png = await download(page, "png");
  assert.equal(png.readUInt32BE(16), found.width * 2);
  const colours = await blank.evaluate(coloursOf, png.toString("base64"));
  const wanted = await page.locator(".head path").first().evaluate((path) => getComputedStyle(path).fill);
  assert.ok(colours.includes(wanted), `${wanted} is in the picture`);
}));

test("a page shows first what the program was asked for", () => visit("many_heads", async (page) => {
  assert.equal(await caption(page), "encoder self-attention: all heads");
  assert.equal(await page.locator(".head").count(), 48);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "no scrolling sideways");
  await page.getByLabel("all heads").uncheck();
  assert.equal(await caption(page), "encoder self-attention: layer 5, head 2");
}));

test("several sentences have a chooser", () => visit("all", async (page) => {
  assert.deepEqual(await tokens(page, "row"), ["il", "gatto", "è", "qui", "ora"]);
  await page.getByLabel("Sentence").selectOption({ index: 2 });
  assert.equal(await page.locator("h1").innerText(), "Subwords and the end token");
  assert.ok(await page.getByLabel("merge subwords").isVisible());
}));

test("right-to-left tokens have their own direction", () => visit("right_to_left", async (page) => {
  const shown = await page.locator("th bdi").evaluateAll((all) =>
    all.map((token) => [token.textContent, getComputedStyle(token).direction]));
  assert.equal(shown[0][0], "القطة");
  assert.ok(shown.every(([, direction]) => direction === "rtl"));
  await cell(page, 0, 5).hover();
  const [target, source] = await page.locator("#tip bdi").evaluateAll((all) => all.map((token) => token.getBoundingClientRect().left));
  assert.ok(target < source, "the arrow points from the source to the target");
}));

test("a dark page is dark", () => visit("five", async (page) => {
  const ground = (locator) => locator.evaluate((element) =>
    Math.max(...getComputedStyle(element).backgroundColor.match(/\d+/g).slice(0, 3).map(Number)));
  assert.ok((await ground(page.locator("body"))) < 60);
  assert.ok((await ground(cell(page, 0, 4))) < 60, "nothing is dark");
  assert.ok((await ground(cell(page, 0, 0))) > 120, "much is bright");
}, { colorScheme: "dark" }));

for (const name of ["five", "eighty", "subwords", "right_to_left", "chinese", "explained", "explained_long", "hostile"]) {
  test(`no label of ${name} lies over another`, () => visit(name, async (page) => {
    const found = await page.evaluate(() => {
      const boxes = (selector) => [...document.querySelector("table").querySelectorAll(selector)].map((e) => e.getBoundingClientRect());
      const [columns, rows] = [boxes("th[scope=col] bdi"), boxes("th[scope=row] bdi")];
      const over = (boxes, end, start) => boxes.slice(1).filter((box, index) => boxes[index][end] > box[start] + 1).length;
      return [over(columns, "right", "left"), over(rows, "bottom", "top"), document.documentElement.scrollWidth - innerWidth];
    });
    assert.deepEqual(found.slice(0, 2), [0, 0]);
    assert.ok(found[2] <= 0, "the page itself does not scroll sideways");
  }));
}
