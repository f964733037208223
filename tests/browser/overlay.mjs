// Opens the pages that `overlay_page` wrote in a browser and uses them as a reader would.
//
//   node overlay.mjs DIRECTORY      (CHROMIUM names another browser; SHOTS a directory for pictures of the pages)

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { visit } from "./visit.mjs";

const words = (page) => page.locator("#words .word");
const told = (page) => page.locator("#told").innerText();
const tip = (page) => page.locator("#tip");
const ready = (page) => page.locator("body[data-ready]").waitFor();
const lit = (page) => words(page).evaluateAll((all) => all.map((word) => Number(word.style.getPropertyValue("--lit") || 0)));

/** The colours of points of a canvas, by shares of its width and height. Read from a copy: a canvas that is often read
 * makes the browser complain. */
const coloursAt = (page, selector, points) => page.locator(selector).evaluate((canvas, points) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  return points.map(([x, y]) => [...copy.getImageData(x * canvas.width, y * canvas.height, 1, 1).data.slice(0, 3)]);
}, points);
/** Something that changes whenever anything in a canvas does. */
const drawn = (page, selector = "#large") => page.locator(selector).first().evaluate((canvas) => canvas.toDataURL());

async function pointAt(page, selector, x, y) {
  const box = await page.locator(selector).boundingBox();
  await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
}

async function shoot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`), fullPage: true });
}

const look = (name, use, options) => visit(name, async (page) => {
  await ready(page);
  await use(page);
}, options);

test("a pointed word lights its regions", () => look("out", async (page) => {
  const image = await drawn(page);
  assert.equal(await told(page), "");
  await words(page).nth(7).hover();
  assert.match(await told(page), /^circle: probability 0\.98\d\d, most weight 0\.05\d*\. Inside the box: 5\d % of the weight, and the most\.$/);
  assert.notEqual(await drawn(page), image);
  // The circle is lit, and the lower right corner, which no word of it looks at, is not.
  const [inside, outside] = await coloursAt(page, "#large", [[0.33, 0.4], [0.95, 0.95]]);
  assert.ok(inside[1] > outside[1] + 30 && inside[0] > inside[2] + 20, `${inside} is yellow beside ${outside}`);
  assert.ok(Math.max(...outside) - Math.min(...outside) < 12, `${outside} is grey`);
  assert.ok(await page.locator(".tile.on bdi").innerText() === "circle", "its small image is marked too");
  await shoot(page, "word");
  await page.locator("h1").hover();
  assert.equal(await drawn(page), image, "and it goes out again");
}));

test("a clicked word stays, in every view", () => look("out", async (page) => {
  await words(page).nth(1).click();
  await page.locator("h1").hover();
  assert.match(await told(page), /^square: .* 4 % of the weight, but not the most\.$/);
  assert.equal(await words(page).nth(1).getAttribute("aria-pressed"), "true");
  const attention = await drawn(page);
  assert.deepEqual(await page.locator("#view option").allTextContents(), ["attention", "gradient × input", "erasure"]);
  await page.locator("#view").selectOption({ label: "erasure" });
  await page.waitForFunction((before) => document.querySelector("#large").toDataURL() !== before, attention);
  assert.match(await told(page), /^square: /);
  await words(page).nth(1).click();
  await page.locator("h1").hover();
  assert.equal(await told(page), "");
}));

test("a pointed region lights the words that looked there", () => look("out", async (page) => {
  assert.deepEqual(await lit(page), Array(8).fill(0));
  await pointAt(page, "#large", 0.3, 0.4);
  const light = await lit(page);
  const names = await words(page).locator("bdi").allTextContents();
  assert.ok(light[names.indexOf("circle")] > 0.9 && light[0] < 0.4, `${names}: ${light}`);
  assert.match(await tip(page).innerText(), /^row 6, column 5\s+(black|circle)\s+0\.05\d+\s/);
  const numbers = await words(page).locator(".number").allTextContents();
  assert.match(numbers[7], /^0\.05/);
  await shoot(page, "region");
  await pointAt(page, "#large", 0.8, 0.95);
  assert.ok((await lit(page))[7] < 0.1);
  await page.locator("h1").hover();
  assert.ok(await tip(page).isHidden());
  assert.deepEqual(await lit(page), Array(8).fill(0));
  assert.match((await words(page).locator(".number").allTextContents())[7], /^0\.98$/);
}));

test("a finger points too", () => look("out", async (page) => {
  const box = await page.locator("#large").boundingBox();
  await page.touchscreen.tap(box.x + 0.3 * box.width, box.y + 0.4 * box.height);
  assert.match(await tip(page).innerText(), /^row 6, column 5/);
  assert.ok((await lit(page))[7] > 0.9);
  await words(page).nth(7).tap();
  assert.match(await told(page), /^circle/);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, "the page does not scroll sideways");
  await shoot(page, "phone");
}, { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true, colorScheme: "dark" }));

test("the keyboard goes where the pointer goes", () => look("out", async (page) => {
  await page.locator("#download-png").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  assert.match(await tip(page).innerText(), /^row 8, column 8/);
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowLeft");
  assert.match(await tip(page).innerText(), /^row 7, column 7/);
  await page.keyboard.press("Escape");
  assert.ok(await tip(page).isHidden());
  await page.keyboard.press("Tab");
  assert.match(await told(page), /^a: /);
  await page.keyboard.press("ArrowRight");
  assert.match(await told(page), /^square: /);
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowRight");
  assert.match(await told(page), /^circle: /, "there is no further word");
  await page.keyboard.press("Enter");
  assert.equal(await words(page).nth(7).getAttribute("aria-pressed"), "true");
  const outline = await words(page).nth(7).evaluate((word) => getComputedStyle(word).outlineStyle);
  assert.equal(outline, "solid", "one sees where one is");
}));

test("switches change what is drawn", () => look("out", async (page) => {
  await words(page).nth(7).click();
  const states = [await drawn(page)];
  for (const id of ["smooth", "boxes", "alike"]) {
    const small = await drawn(page, ".tile canvas");
    await page.locator(`#${id}`).click();
    states.push(await drawn(page));
    if (id !== "boxes") assert.notEqual(await drawn(page, ".tile canvas"), small, `${id} changes the small images`);
  }
  // The circle has almost the largest weight of all, so that one scale for all changes it little; the legend has numbers.
  assert.equal(new Set(states.slice(0, 3)).size, 3);
  assert.deepEqual(await page.locator("#legend .bar-ticks span").allTextContents(), ["0", "0.027", "0.054"]);
  // In blocks, two points of a region have one colour.
  await words(page).nth(0).hover();
  const colours = await coloursAt(page, "#large", [0.2, 0.8].map((part) => [(10 + part) / 14, 11.5 / 14]));
  assert.ok(colours[0].every((channel, at) => Math.abs(channel - colours[1][at]) <= 6), JSON.stringify(colours));
}));

test("switches that would do nothing are not there", () => look("hostile", async (page) => {
  for (const id of ["boxes", "view", "chooser"]) assert.ok(await page.locator(`#${id}`).isHidden(), id);
  assert.ok(await page.locator("#maps").isHidden());
}));

async function download(page, button, name) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
  assert.equal(file.suggestedFilename(), name);
  return readFile(await file.path());
}

for (const [name, kind, tiles] of [["out", "focus", 8], ["hostile", "focus", 7], ["maps", "maps", 50]]) {
  test(`the picture of ${name} can be downloaded`, () => look(name, async (page) => {
    const button = kind === "maps" ? "#maps" : "#download";
    const svg = (await download(page, `${button}-svg`, `${kind}.svg`)).toString();
    const blank = await page.context().newPage();
    const found = await blank.evaluate((text) => {
      const picture = new DOMParser().parseFromString(text, "image/svg+xml");
      return {
        broken: picture.querySelector("parsererror")?.textContent ?? null,
        width: Number(picture.documentElement.getAttribute("width")),
        tiles: picture.querySelectorAll("use[href='#shade']").length,
        foreign: picture.querySelectorAll("script, img, foreignObject").length,
      };
    }, svg);
    assert.deepEqual([found.broken, found.tiles, found.foreign], [null, tiles, 0]);
    const png = await download(page, `${button}-png`, `${kind}.png`);
    assert.equal(png.subarray(0, 8).toString("latin1"), "\x89PNG\r\n\x1a\n");
    assert.equal(png.readUInt32BE(16), found.width * 2);
    // More than a white ground with letters: the images are in it.
    const colours = await blank.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const surface = new OffscreenCanvas(image.width, image.height).getContext("2d");
      surface.drawImage(image, 0, 0);
      const { data } = surface.getImageData(0, 0, image.width, image.height);
      let coloured = 0;
      for (let at = 0; at < data.length; at += 4) coloured += Math.max(...data.subarray(at, at + 3)) - Math.min(...data.subarray(at, at + 3)) > 30;
      return coloured / (data.length / 4);
    }, png.toString("base64"));
    assert.ok(colours > 0.02, `${colours} of the picture is in colour`);
  }));
}

test("hostile text is shown as text", () => look("hostile", async (page) => {
  const shown = await words(page).locator("bdi").allTextContents();
  assert.equal(shown[0], "</script><img src=x onerror=window.harmed=1>");
  assert.equal(await page.locator("h1").innerText(), "<script>window.harmed=1</script>");
  assert.ok(!shown.join("").match(/[\u0000-\u001f\u202e\u2028]/), "nothing that turns or breaks a line");
  await pointAt(page, "#large", 0.5, 0.5);
  await words(page).nth(0).hover();
  assert.deepEqual(await page.evaluate(() => [window.harmed, document.images.length]), [undefined, 0]);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(over <= 0, "the page does not scroll sideways");
}));

test("several images have a chooser", () => look("all", async (page) => {
  assert.equal(await page.locator("#chooser option").count(), 5);
  await words(page).nth(1).click();
  await page.locator("#chooser").selectOption("1");
  await page.waitForFunction(() => document.querySelectorAll("#words .word").length === 3);
  assert.equal(await page.locator("h1").innerText(), "three words");
  assert.equal(await told(page), "", "nothing is kept of another image");
}));

test("rollout is large, and every head can be opened", () => look("maps", async (page) => {
  assert.ok(await page.locator("#caption").isHidden());
  assert.equal(await page.locator("#map-name").innerText(), "attention rollout");
  assert.equal(await page.locator("#heads .tile").count(), 48);
  const rollout = await drawn(page, "#map");
  await page.getByRole("button", { name: "layer 3, head 5:" }).click();
  assert.equal(await page.locator("#map-name").innerText(), "layer 3, head 5");
  assert.notEqual(await drawn(page, "#map"), rollout);
  assert.equal(await page.locator('.tile[aria-pressed="true"]').count(), 1);
  await pointAt(page, "#map", 0.5, 0.5);
  assert.match(await tip(page).innerText(), /^row 8, column 8\s+layer 3, head 5\s+[\d.]+$/);
  await shoot(page, "maps");
  await page.getByRole("button", { name: "layer 6, head 8:" }).focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#map-name").innerText(), "layer 6, head 8");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#map-name").innerText(), "attention rollout", "and closed again");
}));

test("words and maps share a page", () => look("both", async (page) => {
  assert.ok(await page.locator("#caption").isVisible() && await page.locator("#maps").isVisible());
  await words(page).nth(2).hover();
  assert.match(await told(page), /^is: /);
  await shoot(page, "both");
}));

const cards = (page) => page.locator(".card");
const scores = async (page) => (await page.locator(".score").allTextContents()).map((text) => Number(text.replace("score ", "").replace("−", "-")));
const rises = (values) => values.every((value, at) => at === 0 || values[at - 1] <= value);

test("the worst captions come first, with what is wrong marked", () => visit("failures", async (page) => {
  await page.locator(".card[data-ready]").first().waitFor();
  assert.equal(await page.locator("#count").innerText(), "31 of 31 captions");
  assert.ok(rises(await scores(page)));
  const first = cards(page).first();
  assert.equal(await first.locator(".word.wrong").count(), 1);
  assert.match(await first.innerText(), /What would be true[\s\S]+Why it is wrong[\s\S]+log-probability\s+−?\d/);
  const image = await first.locator("canvas").evaluate((canvas) => canvas.toDataURL());
  await first.locator(".word.wrong").hover();
  assert.match(await first.locator(".told").innerText(), /^\w+: wrong, probability 0\.\d\d, most weight/);
  assert.notEqual(await first.locator("canvas").evaluate((canvas) => canvas.toDataURL()), image);
  const box = await first.locator("canvas").boundingBox();
  await page.mouse.move(box.x + box.width / 3, box.y + box.height / 2);
  assert.match(await tip(page).innerText(), /^row 8, column 5/);
  await shoot(page, "failures");
}));

test("captions are ordered and chosen", () => visit("failures", async (page) => {
  await page.locator("#order").selectOption("best first");
  assert.ok(rises((await scores(page)).reverse()));
  await page.locator("#order").selectOption("lowest pointing");
  const pointing = async () => (await page.locator(".card dl").allInnerTexts()).filter((text) => text.includes("pointing"))
    .map((text) => Number(text.match(/pointing\s+([\d.]+)/)[1]));
  assert.ok(rises(await pointing()));
  await page.locator("#order").selectOption("by kind of error");
  const kinds = await page.locator(".kinds").allInnerTexts();
  assert.ok(kinds.every((kind, at) => at === 0 || kind === kinds[at - 1] || !kinds.slice(0, at).includes(kind)), "kinds stand together");
  const [value, text] = await page.locator("#kind option").nth(1).evaluate((option) => [option.value, option.textContent]);
  await page.locator("#kind").selectOption(value);
  assert.equal(await cards(page).count(), Number(text.match(/\((\d+)\)$/)[1]));
  await page.locator("#kind").selectOption("all");
  await page.locator("#text").fill("SHAPES/VALID/11");
  assert.equal(await cards(page).count(), 1);
  await page.locator("#text").fill("no such text");
  assert.equal(await page.locator("#count").innerText(), "0 of 31 captions");
}));

test("the page of failures suits a phone and the dark", () => visit("failures", async (page) => {
  await page.locator(".card[data-ready]").first().waitFor();
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(22, 24, 28)");
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, "it does not scroll sideways");
  await page.locator("#text").fill("window.harmed");
  await page.locator(".card[data-ready]").first().waitFor();
  assert.equal(await page.locator(".card").first().locator(".words").getAttribute("dir"), "ltr");
  assert.deepEqual(await page.evaluate(() => [window.harmed, document.images.length]), [undefined, 0]);
  await shoot(page, "failures-phone");
}, { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true, colorScheme: "dark" }));
