// What the tests of the page need: a browser, a service, visits that complain about nothing.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { after } from "node:test";
import { chromium } from "playwright-core";

export const service = (process.argv[2] ?? process.env.GATTO_SERVICE ?? "").replace(/\/$/, "");
if (!service) throw new Error("which address has the service?");

// The browser starts with an empty profile of its own, and talks to nobody but the service.
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    // A microphone that beeps.
    "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
  ],
});
after(() => browser.close());

const { models } = await (await fetch(`${service}/v1/models`)).json();

/** The first model that is so; tests are about models that are there. */
export function model(what, is) {
  const found = models.find(is);
  if (!found) throw new Error(`the service must have ${what}`);
  return found;
}

/** What the service itself answers. */
export async function ask(path, body) {
  const answer = await fetch(service + path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

/** The address of a view. */
export function address(view, options) {
  return `/#/${view}?${new URLSearchParams(options)}`;
}

/** Opens the page, uses it, and checks that it complained about nothing and asked nobody else. */
export async function visit(at, use, options = {}) {
  const { refused = [], ...rest } = options;
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...rest });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    const expected = refused.some((status) => message.text().includes(`status of ${status}`));
    if (!expected) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${service}/`) && !/^(blob|data):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  try {
    await page.goto(service + at);
    await page.locator("[role=tab]").first().waitFor();
    await use(page, context);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds that is serious or critical. */
async function findings(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).slice(0, 3).join(" ")}`);
}

/** Checks that nothing serious is found by axe, on a desk and on a phone, and that nothing there is wider than the phone. */
export async function checkForEveryone(page) {
  assert.deepEqual(await findings(page), []);
  await page.setViewportSize({ width: 360, height: 740 });
  await settled(page);
  assert.ok((await sideways(page)) <= 0, `${await sideways(page)} sideways`);
  assert.deepEqual(await findings(page), [], "on a phone");
}

/** How many dots of a canvas are painted. A copy is read, so that the browser does not complain about the canvas. */
export function painted(canvas) {
  return canvas.evaluate((element) => {
    const context = new OffscreenCanvas(element.width, element.height).getContext("2d");
    context.drawImage(element, 0, 0);
    const { data } = context.getImageData(0, 0, element.width, element.height);
    let count = 0;
    for (let place = 3; place < data.length; place += 4) if (data[place] > 8) count += 1;
    return count;
  });
}

/** A sum over the dots of a canvas, which changes when what is painted does. */
export function fingerprint(canvas) {
  return canvas.evaluate((element) => {
    const context = new OffscreenCanvas(element.width, element.height).getContext("2d");
    context.drawImage(element, 0, 0);
    const { data } = context.getImageData(0, 0, element.width, element.height);
    return data.reduce((sum, value, place) => (sum * 31 + value * (1 + (place % 7))) % 1_000_000_007, 7);
  });
}

/** Nothing is on its way any more. */
export async function settled(page) {
  await page.waitForFunction(() => !document.querySelector(".waiting, [aria-busy=true]"));
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** What is saved when a button is pressed. */
export async function saved(page, kind) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `Save as ${kind}` }).click()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

/** How far the page can be moved sideways. */
export function sideways(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** A picture of a ring and a triangle, as a file to choose. */
export async function scene(page) {
  const data = await page.evaluate(() => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 64;
    const context = canvas.getContext("2d");
    context.fillStyle = "#cdb0cf";
    context.fillRect(0, 0, 64, 64);
    context.strokeStyle = "#2247c8";
    context.lineWidth = 5;
    context.beginPath();
    context.arc(20, 45, 9, 0, 7);
    context.stroke();
    context.fillStyle = "#14a065";
    context.beginPath();
    context.moveTo(44, 13);
    context.lineTo(53, 28);
    context.lineTo(36, 28);
    context.fill();
    return canvas.toDataURL("image/png").split(",")[1];
  });
  return { name: "scene.png", mimeType: "image/png", buffer: Buffer.from(data, "base64") };
}

/** Three tones one after the other, as a WAV file to choose. */
export function melody() {
  const rate = 16_000;
  const samples = Array.from({ length: rate * 1.5 }, (_, place) => {
    const note = Math.floor(place / (rate / 2));
    const fade = Math.min(1, (place % (rate / 2)) / 400, (rate / 2 - (place % (rate / 2))) / 400);
    return Math.round(12_000 * fade * Math.sin((2 * Math.PI * [440, 554.37, 659.25][note] * place) / rate));
  });
  const bytes = Buffer.alloc(44 + samples.length * 2);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + samples.length * 2, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(rate * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(samples.length * 2, 40);
  samples.forEach((sample, place) => bytes.writeInt16LE(sample, 44 + place * 2));
  return { name: "melody.wav", mimeType: "audio/wav", buffer: bytes };
}
