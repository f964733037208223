// Opens the pages of the gallery of trees in a browser and uses them as a reader would.
//
//   node tree.mjs DIRECTORY      (what `tree_gallery` wrote; CHROMIUM names another browser)

import assert from "node:assert/strict";
import { test } from "node:test";
import { visit } from "./visit.mjs";

const nodes = (page) => page.locator(".view:visible .node");
const pruned = (page) => page.locator(".view:visible .node.pruned");
const best = (page) => page.locator(".view:visible .node.best");
const tip = (page) => page.locator("#tip");

test("a pointed token tells its story", () => visit("tree_two", async (page) => {
  assert.ok(await tip(page).isHidden());
  const last = best(page).last();
  await last.hover();
  const told = await tip(page).innerText();
  assert.match(told, /It ended the sentence, which came out as number 1 with the score −\d+\.\d\d\./);
  assert.match(told, /log p of the token\s+−?\d+\.\d\d\s+log p so far\s+−\d+\.\d\d\s+normalised score\s+−\d+\.\d\d/);
  const path = await tip(page).locator(".hypothesis bdi").allTextContents();
  assert.deepEqual(path, await best(page).locator(".token").allTextContents(), "the whole hypothesis");
  assert.equal(await page.locator(".view:visible .node.on").count(), path.length, "its path is marked");
  assert.equal(await page.locator(".view:visible path.on").count(), path.length);
  await pruned(page).first().hover();
  assert.match(await tip(page).innerText(), /It was pruned: .*\./);
  await page.locator("h1").hover();
  assert.ok(await tip(page).isHidden());
  assert.equal(await page.locator(".node.on").count(), 0);
}));

test("what was pruned can be hidden", () => visit("tree_five", async (page) => {
  const all = await nodes(page).count();
  assert.ok((await pruned(page).count()) > 5);
  const height = async () => (await page.locator(".view:visible svg").boundingBox()).height;
  const before = await height();
  await page.getByLabel("hide what was pruned").check();
  assert.equal(await pruned(page).count(), 0);
  assert.ok((await nodes(page).count()) < all);
  assert.ok((await height()) < before, "the tree is smaller");
  await best(page).first().hover();
  assert.ok(await tip(page).isVisible());
  await page.getByLabel("hide what was pruned").uncheck();
  assert.equal(await nodes(page).count(), all);
}));

test("the path of each result can be marked", () => visit("tree_several", async (page) => {
  const names = await page.locator("#paths .name").allTextContents();
  assert.deepEqual(names.slice(0, 3), ["number 1", "number 2", "number 3"]);
  const ink = (element) => getComputedStyle(element).color;
  assert.equal(await page.locator("#paths button").first().evaluate(ink), await page.locator("h1").evaluate(ink));
  const second = page.locator("#paths button").nth(1);
  await second.click();
  await page.locator("h1").hover();
  assert.equal(await second.getAttribute("aria-pressed"), "true");
  const marked = await page.locator(".view:visible .node.on .token").allTextContents();
  const text = await second.locator("bdi").innerText();
  assert.deepEqual(marked.filter((token) => token !== "⟨/s⟩").join(" "), text);
  await page.getByLabel("hide what was pruned").check();
  assert.equal(await page.locator(".view:visible .node.on").count(), marked.length, "it stays marked");
  await second.click();
  await page.locator("h1").hover();
  assert.equal(await page.locator(".node.on").count(), 0);
}));

test("the keyboard goes where the pointer goes", () => visit("tree_two", async (page) => {
  await page.getByLabel("hide what was pruned").focus();
  for (let presses = 0; presses < 8 && (await tip(page).isHidden()); presses += 1) await page.keyboard.press("Tab");
  const texts = await best(page).locator(".token").allTextContents();
  const focused = () => page.evaluate(() => document.activeElement.querySelector(".token").textContent);
  assert.equal(await focused(), texts[0]);
  await page.keyboard.press("ArrowRight");
  assert.equal(await focused(), texts[1]);
  assert.ok((await tip(page).innerText()).startsWith(texts.slice(0, 2).join(" ")));
  await page.keyboard.press("ArrowDown");
  assert.ok(!(await page.evaluate(() => document.activeElement.classList.contains("best"))), "another of the same step");
  await page.keyboard.press("Escape");
  assert.ok(await tip(page).isHidden());
}));

test("several trees have a chooser", () => visit("trees", async (page) => {
  const options = await page.locator("#chooser option").allTextContents();
  assert.equal(options.length, 10);
  await page.locator("#chooser").selectOption("3");
  assert.equal(await page.locator("h1").innerText(), "Two groups");
  assert.equal(await page.locator(".view:visible").count(), 1);
  await best(page).first().hover();
  assert.match(await tip(page).innerText(), /group\s+[12]/);
}));

test("hostile text is shown as text", () => visit("tree_hostile", async (page) => {
  assert.equal(await page.title(), "<script>window.harmed=1</script>");
  assert.equal(await page.locator("h1").innerText(), "<script>window.harmed=1</script>");
  for (let index = 0; index < (await nodes(page).count()); index += 1) await nodes(page).nth(index).focus();
  assert.deepEqual(await page.evaluate(() => [window.harmed, document.images.length]), [undefined, 0]);
  const texts = (await nodes(page).locator("text").allTextContents()).join("");
  assert.ok(!texts.match(/[\u0000-\u001f\u202e\u2028]/), "nothing that turns or breaks a line");
}));

for (const name of ["tree_two", "tree_five", "tree_several", "tree_long", "tree_right_to_left", "tree_chinese", "tree_hostile"]) {
  test(`the boxes of ${name} hold their text and lie beside each other`, () => visit(name, async (page) => {
    const found = await page.evaluate(() => {
      const view = document.querySelector(".view:not([hidden])");
      const boxes = [...view.querySelectorAll(".node")].map((node) => {
        const frame = node.querySelector("rect").getBoundingClientRect();
        const texts = [...node.querySelectorAll("text")].map((text) => text.getBoundingClientRect());
        return { frame, over: texts.some((text) => text.right > frame.right + 1 || text.bottom > frame.bottom + 1) };
      });
      const meet = (one, other) =>
        one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
      const overlaps = boxes.filter(({ frame }, index) => boxes.slice(index + 1).some((other) => meet(frame, other.frame)));
      return [boxes.filter(({ over }) => over).length, overlaps.length, document.documentElement.scrollWidth - innerWidth];
    });
    assert.deepEqual(found.slice(0, 2), [0, 0]);
    assert.ok(found[2] <= 0, "the page itself does not scroll sideways");
  }));
}

test("the page follows the dark mode", () => visit("tree_two", async (page) => {
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const fill = await best(page).first().locator("rect").evaluate((box) => getComputedStyle(box).fill);
  assert.deepEqual([ground, fill], ["rgb(22, 24, 28)", "rgb(86, 180, 233)"]);
}, { colorScheme: "dark" }));
