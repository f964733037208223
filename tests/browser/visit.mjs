// What the tests of every gallery need: a browser, and visits to a page that complains about nothing.

import assert from "node:assert/strict";
import path from "node:path";
import { after } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const gallery = process.argv[2];
if (!gallery) throw new Error("which directory holds the gallery?");

// The browser starts with an empty profile of its own, and talks to nobody.
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
after(() => browser.close());

/** Opens a page of the gallery, uses it, and checks that it complained about nothing and fetched nothing. */
export async function visit(name, use, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  const address = pathToFileURL(path.join(gallery, `${name}.html`)).href;
  page.on("request", (request) => {
    const own = request.url() === address || /^(blob|data):/.test(request.url());
    if (!own) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  await use(page);
  assert.deepEqual(complaints, []);
  await context.close();
}
