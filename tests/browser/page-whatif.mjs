// Changes what models read, and their heads, as a reader would.
//
//   node page-whatif.mjs ADDRESS      (CHROMIUM names another browser)
//
// The service must have a recurrent translator with attention, a Transformer that translates, a captioner and a
// recogniser; how well they were trained does not matter, for what is seen is compared with what the service answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { address, ask, checkForEveryone, melody, model, saved, scene, settled, visit } from "./page-visit.mjs";

const recurrent = model("a recurrent translator", (one) => one.task === "translate" && one.attentions.join() === "cross");
const transformer = model("a Transformer that translates", (one) => one.task === "translate" && one.attentions.includes("encoder"));
const captioner = model("a captioner", ({ task }) => task === "caption");
const recogniser = model("a recogniser", ({ task }) => task === "transcribe");

const text = "the cat is on the table";
const words = (page) => page.locator(".words .chip");
const changes = (page) => page.locator(".change");
const side = (page, name) => page.getByRole("region", { name, exact: true });
const said = async (page, name) => (await side(page, name).locator(".compared").textContent()).trim();
const written = async (request) => (await ask("/v1/trace", request)).body.target.filter(({ word }) => word !== null).map((token) => token.text).join(" ") || "(nothing)";

async function open(page) {
  await page.locator(".whatif-sides").waitFor();
  await settled(page);
}

test("a word is left out and another one replaced, and both outputs stand side by side", () => visit(address("what-if", { model: recurrent.name, text }), async (page) => {
  await open(page);
  assert.deepEqual((await words(page).allTextContents()), text.split(" "));
  assert.equal(await said(page, "Before"), await written({ model: recurrent.name, text }));
  await words(page).nth(1).click();
  await page.getByLabel("or write instead").fill("dog");
  await changes(page).first().waitFor();
  await page.waitForFunction(() => location.hash.includes("edit.2=dog"));
  await settled(page);
  assert.equal(await said(page, "After"), await written({ model: recurrent.name, text: "the dog is on the table" }));
  await words(page).nth(2).focus();
  await page.keyboard.press("Delete");
  await changes(page).nth(1).waitFor();
  await settled(page);
  const after = await written({ model: recurrent.name, text: "the dog on the table" });
  assert.equal(await said(page, "After"), after);
  // What is marked is what is different.
  const kept = async (name, mark) => side(page, name).locator(".compared").evaluate((element, not) => {
    const copy = element.cloneNode(true);
    copy.querySelectorAll(not).forEach((one) => one.remove());
    return copy.textContent.split(/\s+/).filter(Boolean).join(" ");
  }, mark);
  assert.equal(await kept("Before", "del"), await kept("After", "ins"), "what is not marked is the same");
  assert.match(await page.locator(".whatif-summary").innerText(), /gone|new|same/);
  assert.match(await page.locator(".whatif-summary + p").innerText(), /log p −?\d/);
  await page.reload();
  await open(page);
  assert.equal(await said(page, "After"), after, "changes are in the address");
  await changes(page).first().click();
  await settled(page);
  assert.equal(await changes(page).count(), 1);
  await page.getByRole("button", { name: /^Take back: / }).click();
  await page.getByText("Change something above").waitFor();
  assert.equal(await said(page, "Before"), await written({ model: recurrent.name, text }));
}));

test("changes of a text do not go over to another one", () => visit(address("what-if", { model: recurrent.name, text, drop: "2" }), async (page) => {
  await open(page);
  assert.equal(await changes(page).count(), 1);
  await page.getByLabel("Text to translate").fill("where is the dog?");
  await page.waitForFunction(() => !document.querySelector(".change"));
  await page.locator(".words .chip", { hasText: "where" }).waitFor();
  await settled(page);
  assert.equal(await said(page, "Before"), await written({ model: recurrent.name, text: "where is the dog?" }));
}));

test("heads are masked one by one and by the layer", () => visit(address("what-if", { model: transformer.name, text }), async (page) => {
  await open(page);
  const { layers, heads } = transformer.heads.find(({ attention }) => attention === "cross");
  const total = transformer.heads.reduce((sum, one) => sum + one.layers * one.heads, 0);
  assert.equal(await page.locator(".head").count(), total);
  await page.getByRole("button", { name: "Mask output to source, layer 1, head 2" }).click();
  await changes(page).first().waitFor();
  await settled(page);
  assert.equal(await said(page, "After"), await written({ model: transformer.name, text, mask: [{ attention: "cross", layer: 1, head: 2 }] }));
  await page.getByRole("group", { name: "Heads: output to source" }).getByRole("button", { name: `layer ${layers}`, exact: true }).click();
  await page.waitForFunction((count) => document.querySelectorAll(".change").length === count, heads + (layers > 1 ? 1 : 0));
  await settled(page);
  const mask = [...(layers > 1 ? [{ attention: "cross", layer: 1, head: 2 }] : []), ...Array.from({ length: heads }, (_, head) => ({ attention: "cross", layer: layers, head: head + 1 }))];
  const { body } = await ask("/v1/trace", { model: transformer.name, text, mask });
  assert.equal(await said(page, "After"), await written({ model: transformer.name, text, mask }));
  const data = JSON.parse((await saved(page, "JSON")).bytes);
  assert.equal(data.after.text, body.text);
  assert.ok(Math.abs(data.after.log_probability - body.log_probabilities.reduce((sum, log) => sum + log, 0)) < 1e-3);
  assert.match((await saved(page, "SVG")).bytes.toString(), />After</);
  assert.equal((await saved(page, "PNG")).bytes.subarray(1, 4).toString(), "PNG");
}));

test("regions of an image are painted over", () => visit(address("what-if", { model: captioner.name }), async (page) => {
  await page.locator("input[type=file]").setInputFiles(await scene(page));
  await open(page);
  const image = page.getByRole("application", { name: /^The image; arrow keys/ });
  const asked = [];
  page.on("request", (request) => { if (request.url().endsWith("/v1/trace")) asked.push(request.postDataJSON()); });
  await image.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Take back: row 1, column 2 painted over" }).waitFor();
  await settled(page);
  assert.equal(await said(page, "After"), await written(asked[0]));
  const { body } = await ask("/v1/trace", { model: captioner.name, image: asked[0].image });
  const grey = await page.evaluate(async ([file, [down, across]]) => {
    const picture = new Image();
    picture.src = `data:image/png;base64,${file}`;
    await picture.decode();
    const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d", { willReadFrequently: true });
    context.drawImage(picture, 0, 0);
    const at = (row, column) => [...context.getImageData(Math.floor(((column + 0.5) * picture.width) / across), Math.floor(((row + 0.5) * picture.height) / down), 1, 1).data];
    return [at(0, 1), at(0, 0)];
  }, [asked[0].image, body.grid]);
  assert.deepEqual(grey[0], [128, 128, 128, 255]);
  assert.notDeepEqual(grey[1], [128, 128, 128, 255], "and no other");
}));

test("a stretch of a recording is made silent, and nothing else", () => visit(address("what-if", { model: recogniser.name }), async (page) => {
  const { buffer, ...file } = melody();
  await page.locator("input[type=file]").setInputFiles({ ...file, buffer });
  await open(page);
  const asked = [];
  page.on("request", (request) => { if (request.url().endsWith("/v1/trace")) asked.push(request.postDataJSON()); });
  await page.getByLabel("From", { exact: true }).fill("0.5");
  await page.getByLabel("to second", { exact: true }).fill("1");
  await page.getByRole("button", { name: "Mute this stretch" }).click();
  await page.getByRole("button", { name: "Take back: 0.50–1.00 s silent" }).waitFor();
  await settled(page);
  const sent = Buffer.from(asked[0].sound, "base64");
  const expected = Buffer.from(buffer);
  expected.fill(0, 44 + 8000 * 2, 44 + 16000 * 2);
  assert.ok(sent.equals(expected));
  assert.equal(await said(page, "After"), await written(asked[0]));
}));

for (const colorScheme of ["light", "dark"]) {
  test(`nothing serious for axe, and nothing sideways on a phone, ${colorScheme}`, () =>
    visit(address("what-if", { model: transformer.name, text, drop: "2", mask: "cross.1.1" }), async (page) => {
      await open(page);
      await words(page).first().click();
      await checkForEveryone(page);
    }, { colorScheme }));
}
