// Opens the pages that `spectrogram_page` wrote in a browser and uses them as a reader would.
//
//   node spectrogram.mjs DIRECTORY      (CHROMIUM names another browser; SHOTS a directory for pictures of the pages)

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { visit } from "./visit.mjs";

const ready = (page) => page.locator("body[data-ready]").waitFor();
const words = (page) => page.locator("#words .word");
const told = (page) => page.locator("#told").innerText();
const lit = (page, all) => page.locator(all).evaluateAll((found) => found.flatMap((one, number) => (one.classList.contains("on") ? [number] : [])));
const cursor = (page) => page.evaluate(() => {
  const box = document.getElementById("spectrogram").getBoundingClientRect();
  return (document.getElementById("cursor").getBoundingClientRect().left - box.left) / box.width;
});
/** When the tokens are heard, and how long the axis is. */
const item = (page, number = 0) => page.evaluate((number) => {
  const { tokens, start, seconds } = JSON.parse(document.getElementById("data").textContent).items[number];
  return { tokens, start, seconds };
}, number);

async function shoot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`), fullPage: true });
}

const look = (name, use, options) => visit(name, async (page) => {
  await ready(page);
  await use(page);
}, options);

test("the spectrogram and a row for each token stand on one axis", () => look("melody", async (page) => {
  const { tokens } = await item(page);
  assert.ok(tokens.length >= 3);
  assert.equal(await words(page).count(), tokens.length);
  assert.equal(await page.locator("#stage .row canvas").count(), tokens.length);
  assert.equal(await page.locator("#stage .known").count(), tokens.length);
  const [picture, row] = await Promise.all(["#picture", "#stage .row"].map((one) => page.locator(one).first().boundingBox()));
  assert.ok(Math.abs(picture.x - row.x) < 1 && picture.width > 300 && picture.width <= row.width + 1);
  assert.ok(await page.locator("#picture").evaluate((image) => image.naturalWidth > 10));
  assert.deepEqual(await lit(page, ".word"), [], "nothing is lit before the sound begins");
  await shoot(page, "melody");
}));

test("the sound plays, and the cursor follows the spelling", () => look("melody", async (page) => {
  const { tokens, start, seconds } = await item(page);
  const length = await page.locator("#sound").evaluate((sound) => new Promise((resolve) => {
    if (sound.readyState > 0) resolve(sound.duration);
    else sound.addEventListener("loadedmetadata", () => resolve(sound.duration));
  }));
  assert.ok(Math.abs(length - seconds) < 0.2, `${length} of ${seconds} seconds`);
  for (const number of [0, 1, 2]) {
    const time = tokens[number].heard[0] + 0.01;
    await page.locator("#sound").evaluate((sound, time) => { sound.currentTime = time; }, time);
    await page.waitForFunction((number) => document.querySelectorAll(".word")[number].classList.contains("on"), number);
    assert.deepEqual(await lit(page, "#stage .row"), [number]);
    assert.ok(Math.abs(await cursor(page) - (time - start) / seconds) < 0.01);
    assert.match(await told(page), new RegExp(`^${tokens[number].token}: listened to from \\d`));
  }
  await page.locator("#sound").evaluate((sound) => { sound.muted = true; sound.currentTime = 0; return sound.play(); });
  await page.waitForFunction(() => document.getElementById("sound").currentTime > 0.3);
  assert.ok(await cursor(page) > 0.02, "it moves by itself");
  await page.locator("#sound").evaluate((sound) => sound.pause());
  await shoot(page, "playing");
}));

test("a clicked token is heard from where it begins", () => look("melody", async (page) => {
  const { tokens } = await item(page);
  await page.locator("#sound").evaluate((sound) => { sound.muted = true; });
  await words(page).nth(2).click();
  await page.waitForFunction((begins) => document.getElementById("sound").currentTime >= begins - 0.01, tokens[2].heard[0]);
  await page.locator("#sound").evaluate((sound) => sound.pause());
  const box = await page.locator("#spectrogram").boundingBox();
  await page.mouse.click(box.x + 0.5 * box.width, box.y + 20);
  const { start, seconds } = await item(page);
  await page.waitForFunction((half) => Math.abs(document.getElementById("sound").currentTime - half) < 0.3, start + seconds / 2);
}));

test("a pointed moment tells who listened", () => look("melody", async (page) => {
  const { tokens, start, seconds } = await item(page);
  const box = await page.locator("#spectrogram").boundingBox();
  const share = (tokens[1].heard[0] - start) / seconds;
  await page.mouse.move(box.x + share * box.width, box.y + 40);
  assert.match(await page.locator("#tip").innerText(), new RegExp(`s\\s+${tokens[1].token}\\s+0\\.8`));
  await page.locator("h1").hover();
  assert.ok(await page.locator("#tip").isHidden());
}));

test("the keyboard moves the cursor", () => look("melody", async (page) => {
  await page.locator("#stage").focus();
  const before = await cursor(page);
  for (let times = 0; times < 8; times += 1) await page.keyboard.press("ArrowRight");
  assert.ok(await cursor(page) > before + 0.02);
  await page.keyboard.press("Home");
  assert.ok(Math.abs(await cursor(page) - before) < 0.01);
}));

test("text is text, whatever stands in it", () => look("hostile", async (page) => {
  assert.equal(await page.locator("h1").innerText(), "</script><img src=x onerror=alert(1)>");
  assert.match(await words(page).first().innerText(), /^<b>\w+<\/b>&/);
  assert.equal(await page.locator("main b, h1 img").count(), 0);
}));

test("several sounds have a chooser, on a small dark screen too", () => look("both", async (page) => {
  const first = await words(page).allInnerTexts();
  await page.locator("#chooser").selectOption("1");
  assert.notDeepEqual(await words(page).allInnerTexts(), first);
  const { tokens } = await item(page, 1);
  assert.equal(await page.locator("#stage .row").count(), tokens.length);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, "the page does not scroll sideways");
  await shoot(page, "phone");
}, { viewport: { width: 390, height: 800 }, colorScheme: "dark" }));
