// Opens the search step by step, as a reader would.
//
//   node page-steps.mjs ADDRESS      (CHROMIUM names another browser)
//
// The service must have a recurrent translator with attention and a Transformer that translates; how well they were
// trained does not matter, for what is seen is compared with what the service answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { address, ask, checkForEveryone, model, saved, settled, visit } from "./page-visit.mjs";

const recurrent = model("a recurrent translator", (one) => one.task === "translate" && one.attentions.join() === "cross");
const transformer = model("a Transformer that translates", (one) => one.task === "translate" && one.attentions.includes("encoder"));

const text = "the cat is on the table";
const long = Array.from({ length: 300 }, (_, place) => ["the", "cat", "sees", "a", "dog"][place % 5]).join(" ");
const rows = (page) => page.locator(".candidates tbody tr");
const slider = (page) => page.getByRole("slider", { name: "Step" });
const chips = (page) => page.locator(".change");
const beams = async (options) => (await ask("/v1/trace", { model: recurrent.name, text, beam: 3, beams: { n_best: 3, beside: 5 }, ...options })).body;

async function open(page) {
  await rows(page).first().waitFor();
  await settled(page);
}

test("each step has the candidates of the search, with what became of them", () => visit(address("steps", { model: recurrent.name, text, beam: "3" }), async (page) => {
  await open(page);
  const { beams: { steps, best } } = await beams({});
  assert.ok((await page.locator(".result").innerText()).startsWith(best[0].text));
  for (const [place, candidates] of [[0, steps[0]], [1, steps[1]], [steps.length - 1, steps.at(-1)]]) {
    await slider(page).fill(String(place + 1));
    await settled(page);
    assert.deepEqual(await rows(page).locator("th .candidate bdi").allTextContents(), candidates.map(({ token }) => token));
    assert.deepEqual(await rows(page).evaluateAll((all) => all.map((row) => row.classList.contains("pruned"))),
      candidates.map(({ fate }) => !["kept", "finished", "unfinished", "given"].includes(fate)));
    const scores = await rows(page).locator("td.number").allTextContents();
    scores.forEach((told, index) => assert.ok(Math.abs(Number(told.replace("−", "-")) - candidates[index].score) <= 0.0051, told));
  }
  assert.match(await page.locator(".steps-now p").innerText(), /entropy|has ended before/);
}));

test("the keyboard goes from step to step", () => visit(address("steps", { model: recurrent.name, text, beam: "3" }), async (page) => {
  await open(page);
  const count = Number(await slider(page).getAttribute("max"));
  await slider(page).focus();
  await page.keyboard.press("ArrowRight");
  await page.locator(".steps-now h2", { hasText: /^Step 2$/ }).waitFor();
  await page.keyboard.press("End");
  await page.locator(".steps-now h2", { hasText: new RegExp(`^Step ${count}$`) }).waitFor();
  await page.keyboard.press("Home");
  await page.locator(".steps-now h2", { hasText: /^Step 1$/ }).waitFor();
  await page.locator(".steps-row button").first().focus();
  await page.keyboard.press("ArrowRight");
  await page.locator(".steps-now h2", { hasText: /^Step 2$/ }).waitFor();
  assert.equal(await page.locator(".steps-row [aria-current=step]").count(), 1);
  await page.waitForFunction(() => location.hash.includes("step=2"));
}));

test("an alternative is forced, stays in the address, and is let go of", () => visit(address("steps", { model: recurrent.name, text, beam: "3" }), async (page) => {
  await open(page);
  const { beams: { steps } } = await beams({});
  const other = steps[0].find(({ fate }) => fate === "beaten");
  await rows(page).filter({ has: page.getByRole("button", { name: `Write ${other.token} here` }) }).getByRole("button").click();
  await chips(page).first().waitFor();
  await settled(page);
  const { beams: forced } = await beams({ prefix_tokens: [other.id] });
  assert.ok((await page.locator(".result").innerText()).startsWith(forced.best[0].text));
  assert.equal(await chips(page).textContent(), `step 1: ${other.token} ×`);
  assert.ok(page.url().includes(`forced=${other.id}`), page.url());
  await page.reload();
  await open(page);
  assert.equal(await chips(page).count(), 1, "it is in the address");
  const next = forced.steps[1].find(({ fate, id }) => fate === "beaten" && id > 4);
  await slider(page).fill("2");
  await settled(page);
  await page.getByRole("button", { name: `Write ${next.token} here` }).first().click();
  await chips(page).nth(1).waitFor();
  await settled(page);
  const { beams: twice } = await beams({ prefix_tokens: [other.id, next.id] });
  assert.ok((await page.locator(".result").innerText()).startsWith(twice.best[0].text || "(nothing)"));
  await chips(page).first().click();
  await page.waitForFunction(() => !document.querySelector(".change"));
  await settled(page);
  const { beams: free } = await beams({});
  assert.ok((await page.locator(".result").innerText()).startsWith(free.best[0].text));
}));

test("the tree holds the whole search, and is walked with the keyboard", () => visit(address("steps", { model: recurrent.name, text, beam: "3" }), async (page) => {
  await open(page);
  const { beams: { steps } } = await beams({});
  const nodes = page.locator(".tree-node");
  const all = steps.flat().length;
  assert.ok((await nodes.count()) >= Math.min(all, 20));
  await nodes.first().focus();
  const label = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  const first = await label();
  assert.match(first, /^.+, step 1, probability .+%/);
  assert.match(await page.locator(".tree-told").innerText(), /log p so far/);
  await page.keyboard.press("ArrowRight");
  assert.match(await label(), /, step 2, /);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await label(), first);
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await label(), first);
  assert.match(await label(), /, step 1, /);
  await page.keyboard.press("End");
  assert.match(await label(), new RegExp(`, step ${steps.length}, `));
  await page.keyboard.press("Enter");
  await page.locator(".steps-now h2", { hasText: new RegExp(`^Step ${steps.length}$`) }).waitFor();
  const height = () => page.locator(".tree-scroll svg").evaluate((picture) => Number(picture.getAttribute("height")));
  const before = await height();
  await page.getByLabel("hide what was pruned").check();
  await settled(page);
  assert.ok((await height()) < before, "the tree is smaller");
  assert.equal(await page.locator(".tree-node[aria-label*='It was pruned']").count(), 0);
}));

test("a press of a node shows its step, and a pull moves the tree", () => visit(address("steps", { model: transformer.name, text: "where is the old red book?", beam: "5" }), async (page) => {
  await open(page);
  await page.locator(".tree-node[aria-label*=', step 2,']").first().click();
  await page.locator(".steps-now h2", { hasText: /^Step 2$/ }).waitFor();
  await page.setViewportSize({ width: 600, height: 900 });
  await settled(page);
  const scroller = page.locator(".tree-scroll");
  await scroller.scrollIntoViewIfNeeded();
  const box = await scroller.boundingBox();
  const left = () => scroller.evaluate((element) => element.scrollLeft);
  const before = await left();
  await page.mouse.move(box.x + 300, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x + 100, box.y + 200, { steps: 4 });
  await page.mouse.up();
  assert.ok((await left()) > before + 100, "it was moved");
}));

test("what is seen is saved", () => visit(address("steps", { model: recurrent.name, text, beam: "3" }), async (page) => {
  await open(page);
  const data = JSON.parse((await saved(page, "JSON")).bytes);
  assert.deepEqual(data.beams.steps, (await beams({})).beams.steps);
  const picture = (await saved(page, "SVG")).bytes.toString();
  assert.match(picture, /^<\?xml/);
  assert.equal(picture.match(/<rect/g).length, 1 + data.beams.steps.flat().length + (picture.match(/greedy alone/g)?.length ?? 0), "a box for each candidate");
  assert.deepEqual([...(await saved(page, "PNG")).bytes.subarray(1, 4)], [...Buffer.from("PNG")]);
}));

test("a long output stays easy to move over", () => visit(address("steps", { model: recurrent.name, text: long, beam: "5", longest: "60" }), async (page) => {
  await open(page);
  const steps = Number(await slider(page).getAttribute("max"));
  await slider(page).focus();
  await page.keyboard.press("End");
  await page.locator(".steps-now h2", { hasText: new RegExp(`^Step ${steps}$`) }).waitFor();
  assert.ok(await page.locator(`.tree-node[aria-label*=", step ${steps},"]`).first().isVisible());
}));

for (const colorScheme of ["light", "dark"]) {
  test(`nothing serious for axe, and nothing sideways on a phone, ${colorScheme}`, () =>
    visit(address("steps", { model: transformer.name, text, beam: "4", step: "2" }), async (page) => {
      await open(page);
      await checkForEveryone(page);
    }, { colorScheme }));
}
