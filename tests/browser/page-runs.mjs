// Watches training runs, as a reader would.
//
//   node page-runs.mjs ADDRESS      (CHROMIUM names another browser)
//
// The service must show at least two runs with different configurations, one of them with samples of its validations.

import assert from "node:assert/strict";
import { test } from "node:test";
import { address, checkForEveryone, saved, service, settled, visit } from "./page-visit.mjs";

const { runs } = await (await fetch(`${service}/v1/runs`)).json();
const all = await Promise.all(runs.map(async ({ name }) => (await fetch(`${service}/v1/runs/${encodeURIComponent(name)}`)).json()));
const sampled = all.find(({ samples }) => samples.length > 1);
const other = all.find(({ configuration, curves }) => sampled && configuration !== sampled.configuration && curves.some(({ name }) => name === "train.loss"));
if (!sampled || !other) throw new Error("the service must show two runs, one with samples");

const both = [sampled.name, other.name].map(encodeURIComponent).join(" ");
const box = (page, name) => page.locator(`.run-list input[value="${name}"]`);
const values = (page) => page.locator(".run-values tbody tr");
const curve = (run, name) => run.curves.find((one) => one.name === name);
const near = (told, value) => assert.ok(Math.abs(Number(told) - value) <= Math.abs(value) * 1e-3 + 1e-6, `${told} is not ${value}`);

async function open(page) {
  await page.locator(".run-values tbody tr").first().waitFor();
  await settled(page);
}

test("runs are chosen by their boxes, and their last values are told", () => visit(address("training", { runs: encodeURIComponent(other.name) }), async (page) => {
  await open(page);
  assert.equal(await page.locator(".run-list li").count(), runs.length);
  assert.equal(await values(page).count(), 1);
  await box(page, sampled.name).check();
  await page.waitForFunction(() => document.querySelectorAll(".run-values tbody tr").length === 2);
  const lines = await page.locator(".chart-place svg > g:first-child > path[stroke-width]").evaluateAll((paths) =>
    paths.map((path) => `${path.getAttribute("stroke")} ${path.getAttribute("stroke-dasharray")}`));
  assert.ok(new Set(lines).size >= 2, "runs differ in colour and dashes");
  for (const [index, run] of [other, sampled].entries()) {
    near(await values(page).nth(index).locator("td").first().innerText(), curve(run, "train.loss").values.at(-1));
  }
  await page.waitForFunction(([name]) => decodeURIComponent(location.hash).includes(name), [sampled.name]);
  await box(page, other.name).uncheck();
  await page.waitForFunction(() => document.querySelectorAll(".run-values tbody tr").length === 1);
}));

test("a line over the chart tells the values of all runs there, by the keyboard too", () => visit(address("training", { runs: both }), async (page) => {
  await open(page);
  const chart = page.locator(".chart-place svg");
  await chart.focus();
  await page.keyboard.press("Home");
  const steps = [sampled, other].flatMap((run) => ["train.loss", "valid.loss"].flatMap((name) => curve(run, name)?.steps ?? []));
  const first = Math.min(...steps);
  assert.equal(await page.locator(".run-values thead th").first().innerText(), `at step ${first}`);
  await page.keyboard.press("End");
  assert.equal(await page.locator(".run-values thead th").first().innerText(), `at step ${Math.max(...steps)}`);
  near(await values(page).first().locator("td").first().innerText(), curve(sampled, "train.loss").values.at(-1));
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".run-values thead th").first().innerText(), "last values");
  await chart.hover({ position: { x: 300, y: 100 } });
  assert.match(await page.locator(".run-values thead th").first().innerText(), /^at step \d+$/);
}));

test("figures, axes and smoothing are chosen and kept in the address", () => visit(address("training", { runs: both }), async (page) => {
  await open(page);
  const lines = () => page.locator(".chart-place svg > g:first-child > path").evaluateAll((paths) => paths.map((path) => path.getAttribute("d")).join());
  let before = await lines();
  for (const change of [
    () => page.getByLabel("logarithmic").check(),
    () => page.getByRole("slider", { name: "Smoothing" }).fill("0.9"),
    () => page.getByLabel("over", { exact: true }).selectOption("seconds"),
    () => page.getByLabel("Figure", { exact: true }).selectOption("learning_rate"),
  ]) {
    await change();
    await page.waitForFunction((old) => [...document.querySelectorAll(".chart-place svg > g:first-child > path")].map((path) => path.getAttribute("d")).join() !== old, before);
    before = await lines();
  }
  await page.waitForFunction(() => /figure=learning_rate/.test(location.hash) && /scale=log/.test(location.hash) && /smooth=0.9/.test(location.hash) && /over=seconds/.test(location.hash));
  await page.reload();
  await open(page);
  assert.equal(await page.getByLabel("Figure", { exact: true }).inputValue(), "learning_rate");
}));

test("samples of validations, one after the other", () => visit(address("training", { runs: encodeURIComponent(sampled.name) }), async (page) => {
  await open(page);
  const shown = () => page.locator(".run-samples li").evaluateAll((items) => items.map((item) => {
    const [, , last] = [...item.querySelectorAll("dd")].slice(-3);
    const copy = (last ?? item.querySelector("dd:last-of-type")).cloneNode(true);
    copy.querySelectorAll("del, .right").forEach((one) => one.remove());
    return copy.textContent.replace("(nothing)", "").split(/\s+/).filter(Boolean).join(" ");
  }));
  const outputs = ({ examples }) => [...new Map(examples.map((example) => [JSON.stringify([example.source, example.reference]), example.output])).values()].map((output) => output.split(/\s+/).filter(Boolean).join(" "));
  assert.deepEqual(await shown(), outputs(sampled.samples.at(-1)));
  await page.getByRole("slider", { name: "Validation" }).fill("0");
  await page.waitForFunction((step) => location.hash.includes(`at=${step}`), sampled.samples[0].step);
  assert.deepEqual(await shown(), outputs(sampled.samples[0]));
}));

test("configurations: keys that differ, and the whole of them on demand", () => visit(address("training", { runs: both }), async (page) => {
  await open(page);
  const rows = await page.locator(".differing tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  assert.ok(rows.length > 0);
  for (const [, one, two] of rows) assert.notEqual(one, two);
  assert.equal(await page.locator(".config-texts pre").count(), 0);
  await page.getByLabel("whole configurations").check();
  assert.deepEqual(await page.locator(".config-texts pre").allTextContents(), [sampled.configuration, other.configuration]);
}));

test("a run that goes on grows", () => visit("/", async (page) => {
  // A run as the service would tell it, with one step more each time.
  let asked = 0;
  const after = [];
  const info = () => ({ ...runs[0], name: "growing", going_on: true, step: 10 * asked, steps: 1000, changed: asked });
  await page.route("**/v1/runs", (route) => {
    asked += 1;
    return route.fulfill({ json: { runs: [info()] } });
  });
  await page.route("**/v1/runs/growing*", (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get("after") ?? 0);
    after.push(from);
    const steps = Array.from({ length: asked }, (_, place) => 10 * (place + 1)).filter((step) => step > from);
    return route.fulfill({ json: { ...info(), configuration: "", samples: [], curves: [{ name: "train.loss", steps, values: steps.map((step) => 100 / step) }] } });
  });
  // By way of an empty page: from view to view nothing is loaded anew, and the real list of runs would be known already.
  await page.goto("about:blank");
  await page.goto(`${service}/#/training`);
  await page.getByText("going on").waitFor();
  await page.waitForFunction(() => Number(document.querySelector(".run-values td")?.textContent) <= 100 / 30);
  assert.equal(after[0], 0, "first all of it");
  assert.ok(after.slice(1).every((from) => from > 0 && from % 10 === 9), `then what is new: ${after}`);
}));

test("what is seen is saved", () => visit(address("training", { runs: both }), async (page) => {
  await open(page);
  const data = JSON.parse((await saved(page, "JSON")).bytes);
  assert.deepEqual(data.runs.map(({ name }) => name), [sampled.name, other.name]);
  assert.match((await saved(page, "SVG")).bytes.toString(), /<path/);
  assert.equal((await saved(page, "PNG")).bytes.subarray(1, 4).toString(), "PNG");
}));

for (const colorScheme of ["light", "dark"]) {
  test(`nothing serious for axe, and nothing sideways on a phone, ${colorScheme}`, () =>
    visit(address("training", { runs: both, config: "whole" }), async (page) => {
      await open(page);
      await checkForEveryone(page);
    }, { colorScheme }));
}
