// Opens the page of a running service in a browser and uses it as a reader would.
//
//   node page.mjs ADDRESS      (CHROMIUM names another browser)
//
// The service must have a recurrent translator with attention, a Transformer that translates, a captioner and a
// recogniser; how well they were trained does not matter, for what is seen is compared with what the service answers.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  address, ask, checkForEveryone, fingerprint, melody, model, painted, saved, scene, service, settled, sideways, visit,
} from "./page-visit.mjs";

const recurrent = model("a recurrent translator", (one) => one.task === "translate" && one.attentions.join() === "cross");
const transformer = model("a Transformer that translates", (one) => one.task === "translate" && one.attentions.includes("encoder"));
const captioner = model("a captioner", ({ task }) => task === "caption");
const recogniser = model("a recogniser", ({ task }) => task === "transcribe");

const text = "the cat is on the table";
const long = Array.from({ length: 300 }, (_, place) => ["the", "cat", "sees", "a", "dog"][place % 5]).join(" ");
const output = (page) => page.locator(".output");
const chips = (page, which) => page.locator(".token-row").nth(which).locator(".chip");
const names = async (list) => (await list.locator("bdi").allTextContents());
const shown = (value) => {
  if (Math.abs(value) < 0.0005) return "0";
  return Math.abs(value).toFixed(Math.abs(value) < 0.1 ? 3 : 2).replace(/^/, value < 0 ? "−" : "");
};
const strongest = (values) => values.indexOf(Math.max(...values));

test("what is typed is answered as the service answers it, word by word", () => visit("/", async (page) => {
  await page.getByLabel("Model", { exact: true }).selectOption(recurrent.name);
  const streams = [];
  page.on("response", (answer) => { if (answer.url().endsWith("/v1/predict")) streams.push(answer.headers()["content-type"]); });
  await page.getByLabel("Text to translate").pressSequentially(text, { delay: 15 });
  const { body } = await ask("/v1/predict", { model: recurrent.name, text });
  const [answer] = body.answers;
  await output(page).getByText(answer.text, { exact: true }).waitFor();
  await settled(page);
  assert.ok(streams.includes("text/event-stream"), "it came as a stream");
  assert.deepEqual((await names(page.locator(".tokens"))).slice(0, answer.tokens.length), answer.tokens);
  assert.match(await page.locator(".tokens .number").first().innerText(), /%$/);
  assert.equal(await page.locator("[role=status].visually-hidden").textContent(), answer.text, "who listens hears it");
  await page.getByRole("button", { name: "Clear" }).click();
  assert.equal(await output(page).innerText(), "");
  await page.getByText("Type something above.").waitFor();
}));

test("settings reach the search, and several outputs are listed", () => visit(address("write", { model: recurrent.name, text }), async (page) => {
  await page.getByLabel("Outputs", { exact: true }).fill("3");
  const { body } = await ask("/v1/predict", { model: recurrent.name, text, n_best: 3, beam: Math.max(3, recurrent.beam) });
  await page.locator(".outputs li").nth(2).waitFor();
  await settled(page);
  assert.deepEqual(await page.locator(".outputs .name").allTextContents(), body.answers[0].n_best.map((one) => one.text || "(nothing)"));
  await page.getByLabel("Outputs", { exact: true }).fill("");
  await page.getByLabel("draw words by chance").check();
  await page.getByLabel("Seed", { exact: true }).fill("7");
  const drawn = await ask("/v1/predict", { model: recurrent.name, text, sample: { seed: 7 } });
  await page.waitForFunction((told) => document.querySelector(".output").textContent === told, drawn.body.answers[0].text);
  assert.ok(!(await page.getByLabel("Beam", { exact: true }).isVisible()), "what is drawn is not searched for");
}));

test("a refusal is shown in the words of the service", () => visit(address("write", { model: recurrent.name, text, beam: "100000" }), async (page) => {
  const { status, body } = await ask("/v1/predict", { model: recurrent.name, text, beam: 100000 });
  assert.equal(status, 400);
  const told = await page.getByRole("alert").filter({ hasText: "must be" }).innerText();
  assert.ok(told.includes(body.error), told);
  await page.getByLabel("Beam", { exact: true }).fill("2");
  await settled(page);
  const { body: better } = await ask("/v1/predict", { model: recurrent.name, text, beam: 2 });
  await page.waitForFunction((expected) => document.querySelector(".output").textContent === expected, better.answers[0].text);
}, { refused: [400] }));

test("a full service is asked again", () => visit("/", async (page) => {
  let refusals = 0;
  await page.route("**/v1/predict", async (route) => {
    refusals += 1;
    if (refusals > 1) return route.continue();
    return route.fulfill({ status: 429, headers: { "Retry-After": "1" }, json: { error: "too many requests wait already" } });
  });
  await page.getByLabel("Model", { exact: true }).selectOption(recurrent.name);
  await page.getByLabel("Text to translate").fill(text);
  await page.getByText("The service is busy; asking again in 1 s.").waitFor();
  const { body } = await ask("/v1/predict", { model: recurrent.name, text });
  await output(page).getByText(body.answers[0].text, { exact: true }).waitFor();
  assert.equal(refusals, 2);
}, { refused: [429] }));

test("a service with keys asks for one", async () => {
  const keys = [];
  await visit("/", async (page) => {
    await page.route("**/v1/**", async (route) => {
      const key = route.request().headers().authorization;
      keys.push(key);
      if (key === "Bearer sesame-and-more-of-it") return route.continue();
      return route.fulfill({ status: 403, json: { error: "an API key is needed; send it as `Authorization: Bearer KEY`" } });
    });
    await page.reload();
    await page.getByText("An API key is needed").waitFor();
    await page.getByLabel("API key").fill("sesame-and-more-of-it");
    await page.getByRole("button", { name: "Use it" }).click();
    await page.locator("[role=tab]").first().waitFor();
    assert.ok(keys.includes(undefined) && keys.includes("Bearer sesame-and-more-of-it"));
    assert.ok(!page.url().includes("sesame"), "keys are not in the address");
  }, { refused: [403] });
});

test("the address is the state, and the browser goes back over views", () => visit("/", async (page, context) => {
  await page.getByLabel("Model", { exact: true }).selectOption(transformer.name);
  await page.getByLabel("Text to translate").fill(text);
  await page.getByRole("tab", { name: "Attention" }).click();
  await page.getByLabel("hide the end").check();
  await page.getByRole("tab", { name: "Heads" }).click();
  await page.waitForFunction((told) => location.hash.includes(`text=${told}`), text.replaceAll(" ", "+"));
  const other = await context.newPage();
  await other.goto(page.url());
  await other.locator(".multiples button").first().waitFor();
  assert.equal(await other.getByLabel("Text to translate").inputValue(), text);
  assert.ok(await other.getByLabel("hide the end").isChecked());
  assert.equal(await other.getByRole("tab", { selected: true }).innerText(), "Heads");
  await other.close();
  await page.goBack();
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Attention");
  await page.goBack();
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Write");
  await page.goForward();
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Attention");
  assert.equal(await page.getByLabel("Text to translate").inputValue(), text);
}));

for (const one of [recurrent, transformer]) {
  test(`ribbons of ${one.name}: a token lights what it looked at, and the reverse`, () => visit(address("attention", { model: one.name, text }), async (page) => {
    const { body: trace } = await ask("/v1/trace", { model: one.name, text });
    await chips(page, 0).first().waitFor();
    await settled(page);
    assert.deepEqual(await names(page.locator(".token-row").nth(0)), trace.source.map((token) => token.text));
    assert.deepEqual(await names(page.locator(".token-row").nth(1)), trace.target.map((token) => token.text));
    const canvas = page.locator(".ribbons canvas");
    const before = await painted(canvas);
    assert.ok(before > 200, "there are ribbons");

    await chips(page, 1).first().hover();
    const weights = trace.weights[0];
    assert.deepEqual(await chips(page, 0).locator(".number").allTextContents(), weights.map(shown));
    assert.equal(await page.locator(".looked bdi").first().innerText(), trace.source[strongest(weights)].text);
    assert.match(await page.locator(".readout-line p").innerText(), /looked at$/);
    const fill = (place) => chips(page, 0).nth(place).evaluate((chip) => getComputedStyle(chip).backgroundColor);
    assert.notEqual(await fill(strongest(weights)), await fill(weights.indexOf(Math.min(...weights))), "colours differ");

    await chips(page, 0).nth(1).hover();
    assert.deepEqual(await chips(page, 1).locator(".number").allTextContents(), trace.weights.map((row) => shown(row[1])));
    assert.match(await page.locator(".readout-line p").innerText(), /was looked at by$/);

    await page.locator("h1").hover();
    await page.getByText("Point at a word").waitFor();
    await chips(page, 1).nth(1).click();
    await page.waitForFunction(() => location.hash.includes("pin=w2"));
    await page.locator("h1").hover();
    assert.match(await page.locator(".readout-line p").innerText(), /looked at$/, "what was pressed stays lit");

    await page.getByLabel("hide the end").check();
    await settled(page);
    assert.equal(await chips(page, 0).count(), trace.source.length - 1);
    await chips(page, 1).first().hover();
    const kept = weights.slice(0, -1);
    const sum = kept.reduce((total, value) => total + value, 0);
    assert.deepEqual(await chips(page, 0).locator(".number").allTextContents(), kept.map((value) => shown(value / sum)), "it sums to one again");
    await page.getByLabel("hide the end").uncheck();
    await page.getByLabel("Ribbons from").fill("0.5");
    await page.locator("h1").hover();
    await settled(page);
    assert.ok((await painted(canvas)) <= before, "fewer ribbons");
  }));

  test(`attributions of ${one.name} stand on the same axes, with a measure`, () => visit(address("attention", { model: one.name, text }), async (page) => {
    const { body: trace } = await ask("/v1/trace", { model: one.name, text, attributions: true });
    await page.getByLabel("Show", { exact: true }).selectOption("erasure");
    await page.getByText("How far attention explains the output").waitFor();
    await settled(page);
    await chips(page, 1).first().hover();
    assert.deepEqual(await chips(page, 0).locator(".number").allTextContents(), trace.attributions.erasure[0].map(shown));
    await page.getByText("How far attention explains this step").waitFor();
    const parts = trace.source.length - 1;
    const told = await page.locator(".readout-more dd").allTextContents();
    assert.deepEqual(told, [
      kendall(trace.weights[0].slice(0, parts), trace.attributions.gradient[0].slice(0, parts).map(Math.abs)),
      kendall(trace.weights[0].slice(0, parts), trace.attributions.erasure[0].slice(0, parts)),
    ]);
    const attended = strongest(trace.weights[0].slice(0, parts));
    const sentence = await page.locator(".readout-more p").innerText();
    assert.ok(sentence.startsWith(`Without ${trace.source[attended].text}, at which it looked most, its probability goes from`), sentence);
    await page.getByLabel("Show", { exact: true }).selectOption("gradient");
    await settled(page);
    await chips(page, 1).first().hover();
    assert.deepEqual(await chips(page, 0).locator(".number").allTextContents(), trace.attributions.gradient[0].map(shown));
  }));
}

/** Kendall's τ-b, counted pair by pair, as the page writes it. */
function kendall(x, y) {
  let [agree, ofX, ofY] = [0, 0, 0];
  x.forEach((_, one) => x.slice(0, one).forEach((__, other) => {
    const [across, along] = [Math.sign(x[one] - x[other]), Math.sign(y[one] - y[other])];
    agree += across * along;
    ofX += across * across;
    ofY += along * along;
  }));
  if (ofX === 0 || ofY === 0) return "–";
  const value = agree / Math.sqrt(ofX * ofY);
  const digits = Math.abs(value).toFixed(2);
  return value < 0 && Number(digits) !== 0 ? `−${digits}` : digits;
}

test("mean, maximum and one head of a Transformer", () => visit(address("attention", { model: transformer.name, text, pin: "w1" }), async (page) => {
  const { body: trace } = await ask("/v1/trace", { model: transformer.name, text, heads: true, attention: "cross" });
  const all = trace.attentions[0].layers.flat().map((head) => head[0]);
  const numbers = async () => (await chips(page, 0).locator(".number").allTextContents()).map((told) => Number(told));
  // A byte for each weight: half a step of its range, and the rounding of what is shown.
  const near = (found, expected) => found.every((value, place) => Math.abs(value - expected[place]) < 0.008);
  await chips(page, 0).first().waitFor();
  const choices = await page.getByLabel("Heads", { exact: true }).locator("option").allTextContents();
  assert.equal(choices.length, 2 + all.length);
  await page.getByLabel("Heads", { exact: true }).selectOption("max");
  await settled(page);
  assert.ok(near(await numbers(), all[0].map((_, place) => Math.max(...all.map((head) => head[place])))));
  await page.getByLabel("Heads", { exact: true }).selectOption("1.2");
  await settled(page);
  assert.ok(near(await numbers(), trace.attentions[0].layers[0][1][0]));
  await page.getByLabel("Where", { exact: true }).selectOption("encoder");
  await settled(page);
  assert.deepEqual(await names(page.locator(".token-row").nth(1)), trace.source.map((token) => token.text));
}));

test("every head is a small picture, and one of them a large one", () => visit(address("heads", { model: transformer.name, text }), async (page) => {
  const { body: trace } = await ask("/v1/trace", { model: transformer.name, text, heads: true, attention: "cross" });
  const { layers, queries, keys } = trace.attentions[0];
  await page.locator(".multiples button").first().waitFor();
  await settled(page);
  assert.equal(await page.locator(".multiples button").count(), layers.flat().length);
  const prints = await Promise.all((await page.locator(".multiples canvas").all()).map(fingerprint));
  assert.ok(new Set(prints).size > 1, "heads look different");
  await page.getByRole("button", { name: /^Layer 2, head 2/ }).click();
  await page.waitForFunction(() => location.hash.includes("head=2.2"));
  assert.equal(await page.locator(".opened h2").innerText(), "Layer 2, head 2");
  const large = page.locator(".heatmap canvas");
  assert.ok((await painted(large)) > 1000);
  await page.getByRole("button", { name: /^Layer 2, head 2/ }).focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^Layer 2, head 3|^Layer 2, head 2/);
  for (let presses = 0; presses < 6 && !(await large.evaluate((canvas) => canvas === document.activeElement)); presses += 1) await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  const told = await page.locator(".cell-told").innerText();
  const [, looks, at, value] = /^(.*) looks at (.*): (.*)$/.exec(told);
  assert.deepEqual([looks, at], [queries[1].text, keys[1].text]);
  assert.ok(Math.abs(Number(value) - layers[1][1][1][1]) < 0.008, told);
  const box = await large.boundingBox();
  await page.mouse.move(box.x + box.width - 4, box.y + box.height - 4);
  assert.ok((await page.locator(".cell-told").innerText()).startsWith(`${queries.at(-1).text} looks at ${keys.at(-1).text}: `));
  await page.getByLabel("Where", { exact: true }).selectOption("decoder");
  await settled(page);
  assert.equal(await page.locator(".opened h2").innerText(), "Layer 1, head 1");
}));

test("an image: a word lights regions, a region lights words", () => visit(address("write", { model: captioner.name }), async (page) => {
  const file = await scene(page);
  await page.locator("input[type=file]").setInputFiles(file);
  const image = file.buffer.toString("base64");
  const { body } = await ask("/v1/predict", { model: captioner.name, image });
  await output(page).getByText(body.answers[0].text, { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Attention" }).click();
  const { body: trace } = await ask("/v1/trace", { model: captioner.name, image });
  const canvas = page.locator(".regions-picture");
  await chips(page, 0).first().waitFor();
  await settled(page);
  assert.deepEqual(await names(page.locator(".token-row")), trace.target.map((token) => token.text));
  const plain = await fingerprint(canvas);
  await chips(page, 0).first().hover();
  assert.notEqual(await fingerprint(canvas), plain, "regions are lit");
  const best = strongest(trace.weights[0]);
  const [, across] = trace.grid;
  assert.equal(await page.locator(".looked bdi").first().innerText(), `row ${Math.floor(best / across) + 1}, column ${(best % across) + 1}`);
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + 3, box.y + 3);
  assert.deepEqual(await chips(page, 0).locator(".number").allTextContents(), trace.weights.map((row) => shown(row[0])));
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator(".readout-line p").innerText(), /^row 1, column 2 /);
  const link = page.url();
  await page.waitForFunction(() => location.hash.includes("file="));
  await page.goto("about:blank");
  await page.goto(link);
  await chips(page, 0).first().waitFor();
  assert.deepEqual(await names(page.locator(".token-row")), trace.target.map((token) => token.text), "a small image is in the address");
}));

test("an image may be dropped or pasted", () => visit(address("write", { model: captioner.name }), async (page) => {
  const file = await scene(page);
  const give = (kind, name) => page.evaluate(([event, called, bytes]) => {
    const files = new DataTransfer();
    files.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], called, { type: "image/png" }));
    const options = { bubbles: true, cancelable: true };
    if (event === "drop") document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { ...options, dataTransfer: files }));
    else document.dispatchEvent(new ClipboardEvent("paste", { ...options, clipboardData: files }));
  }, [kind, name, file.buffer.toString("base64")]);
  const { body } = await ask("/v1/predict", { model: captioner.name, image: file.buffer.toString("base64") });
  for (const [kind, name] of [["drop", "dropped.png"], ["paste", "pasted.png"]]) {
    await give(kind, name);
    await page.getByText(name, { exact: true }).waitFor();
    await settled(page);
    assert.equal(await output(page).innerText(), body.answers[0].text);
  }
}));

test("a recording: words light seconds, and it plays", () => visit(address("write", { model: recogniser.name }), async (page) => {
  const file = melody();
  await page.locator("input[type=file]").setInputFiles(file);
  const sound = file.buffer.toString("base64");
  const { body } = await ask("/v1/predict", { model: recogniser.name, sound });
  await page.getByText("What was heard in 1.5 seconds").waitFor();
  assert.equal(await output(page).innerText(), body.answers[0].text);
  await page.getByText("melody.wav, 1.5 s").waitFor();
  await page.getByRole("tab", { name: "Attention" }).click();
  const { body: trace } = await ask("/v1/trace", { model: recogniser.name, sound });
  await chips(page, 0).first().waitFor();
  await settled(page);
  assert.deepEqual(await names(page.locator(".token-row")), trace.target.map((token) => token.text));
  const canvas = page.locator(".band-picture");
  assert.ok((await painted(canvas)) > 2000);
  await chips(page, 0).first().hover();
  const { start, step } = trace.timeline;
  const from = start + strongest(trace.weights[0]) * step;
  assert.equal(await page.locator(".looked bdi").first().innerText(), `${from.toFixed(2)}–${(from + step).toFixed(2)} s`);
  await page.locator(".band").getByRole("button", { name: "Play" }).click();
  await page.locator(".band").getByRole("button", { name: "Stop" }).waitFor();
  await page.locator(".band").getByRole("button", { name: "Play" }).waitFor();
}));

test("a recording is made with the microphone", () => visit(address("write", { model: recogniser.name }), async (page) => {
  await page.getByRole("button", { name: "Record", exact: true }).click();
  const stop = page.getByRole("button", { name: "Stop recording" });
  await stop.waitFor();
  await page.waitForTimeout(1200);
  await stop.click();
  await page.getByText(/^What was heard in \d+\.\d seconds$/).waitFor();
  await page.getByText(/^recording\.wav, [1-9]\d*\.\d s$/).waitFor();
  assert.ok((await painted(page.locator(".drop .wave"))) > 50);
}, { permissions: ["microphone"] }));

test("nothing jumps while one looks", () => visit(address("attention", { model: recurrent.name, text }), async (page) => {
  await chips(page, 0).first().waitFor();
  await settled(page);
  const places = () => page.evaluate(() => [...document.querySelectorAll(".chip, .tabs button, .controls select, .readout")]
    .map((one) => [one.getBoundingClientRect().left, one.getBoundingClientRect().top].map(Math.round).join()));
  const before = await places();
  for (const [row, place] of [[0, 0], [0, 3], [1, 0], [1, 2]]) {
    await chips(page, row).nth(place).hover();
    assert.deepEqual(await places(), before);
  }
}));

test("three hundred tokens are drawn, without an element for a cell", async () => {
  const options = { model: transformer.name, text: long, longest: "60" };
  await visit(address("attention", options), async (page) => {
    await chips(page, 0).nth(300).waitFor();
    await settled(page);
    assert.ok((await painted(page.locator(".ribbons canvas"))) > 0 || (await page.getByLabel("Ribbons from").fill("0"), await settled(page), await painted(page.locator(".ribbons canvas"))) > 0);
    await chips(page, 0).nth(299).scrollIntoViewIfNeeded();
    await chips(page, 0).nth(299).hover();
    assert.match(await page.locator(".readout-line p").innerText(), /was looked at by$/);
    assert.ok((await page.evaluate(() => document.querySelectorAll("*").length)) < 4000);
  });
  await visit(address("heads", { ...options, kind: "encoder", head: "1.1" }), async (page) => {
    await page.locator(".multiples button").first().waitFor();
    await settled(page);
    const canvas = page.locator(".heatmap canvas");
    assert.ok((await painted(canvas)) > 500_000, "300 × 300 cells");
    assert.ok((await page.evaluate(() => document.querySelectorAll("*").length)) < 1000);
    assert.ok((await sideways(page)) <= 0);
  });
});

test("every view is saved as SVG, PNG and JSON", async () => {
  for (const view of ["write", "attention", "heads"]) {
    await visit(address(view, { model: transformer.name, text }), async (page) => {
      await page.waitForFunction(() => !document.querySelector("[aria-label='Save as SVG']").disabled);
      await settled(page);
      const json = await saved(page, "JSON");
      assert.match(json.name, /\.json$/);
      assert.equal(JSON.parse(json.bytes).model, transformer.name);
      const svg = (await saved(page, "SVG")).bytes.toString();
      const told = await page.evaluate((source) => {
        const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
        return [parsed.querySelector("parsererror") === null, parsed.documentElement.textContent];
      }, svg);
      assert.ok(told[0], "it is well formed");
      assert.ok(told[1].includes("table"), "the source is in it");
      const png = (await saved(page, "PNG")).bytes;
      assert.equal(png.subarray(1, 4).toString(), "PNG");
      assert.ok(png.readUInt32BE(16) > 200 && png.readUInt32BE(20) > 100);
    });
  }
});

test("the keyboard goes everywhere", () => visit(address("write", { model: transformer.name, text }), async (page) => {
  await page.getByRole("tab", { name: "Write" }).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Attention");
  await page.keyboard.press("Enter");
  await chips(page, 0).first().waitFor();
  await settled(page);
  await chips(page, 1).first().focus();
  await page.keyboard.press("ArrowRight");
  const second = await chips(page, 1).nth(1).locator("bdi").innerText();
  assert.equal(await page.locator(".readout-line .told").innerText(), second);
  await page.keyboard.press("End");
  assert.equal(await page.locator(".readout-line .told").innerText(), await chips(page, 1).last().locator("bdi").innerText());
  assert.equal(await page.locator(".token-row").nth(1).locator(".chip[tabindex='0']").count(), 1, "one stop for the tab key");
}));

test("hostile text is shown as text", () => {
  const hostile = "<img src=x onerror=window.harmed=1> \u202e‮ </script><script>window.harmed=1</script>";
  return visit(address("attention", { model: recurrent.name, text: hostile }), async (page) => {
    await chips(page, 0).first().waitFor();
    for (const view of ["Write", "Heads", "Attention"]) {
      const tab = page.getByRole("tab", { name: view });
      if (await tab.count()) await tab.click();
      await settled(page);
    }
    assert.deepEqual(await page.evaluate(() => [window.harmed, document.querySelectorAll("main img[src=x], main script").length]), [undefined, 0]);
  });
});

test("a text from right to left has its first token on the right", () => visit(address("attention", { model: recurrent.name, text: "شلوم عالم" }), async (page) => {
  await chips(page, 0).first().waitFor();
  await settled(page);
  const row = page.locator(".token-row").first();
  const told = await names(row);
  // Words that a vocabulary does not know are shown as unknown, and have no direction.
  const expected = told.some((one) => /[\u0600-\u06ff]/.test(one)) ? "rtl" : "ltr";
  assert.equal(await row.evaluate((list) => getComputedStyle(list).direction), expected);
  assert.equal(await page.getByLabel("Text to translate").evaluate((field) => getComputedStyle(field).direction), "rtl");
}));

test("light and dark follow the system, and can be chosen", () => visit("/", async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await ground(), "rgb(20, 22, 26)");
  await page.getByLabel("Theme", { exact: true }).selectOption("light");
  assert.equal(await ground(), "rgb(255, 255, 255)");
  await page.reload();
  await page.locator("[role=tab]").first().waitFor();
  assert.equal(await ground(), "rgb(255, 255, 255)", "the choice stays");
  await page.getByLabel("Theme", { exact: true }).selectOption("auto");
  assert.equal(await ground(), "rgb(20, 22, 26)");
}, { colorScheme: "dark" }));

const everything = [
  ["write", recurrent, { text, outputs: "3" }], ["attention", recurrent, { text, pin: "w1" }], ["attention", transformer, { text, show: "erasure", pin: "s2" }],
  ["heads", transformer, { text }], ["write", captioner, {}], ["attention", captioner, {}], ["write", recogniser, {}], ["attention", recogniser, {}],
];
for (const [view, one, options] of everything) {
  for (const colorScheme of ["light", "dark"]) {
    test(`${view} of ${one.name}, ${colorScheme}: nothing serious for axe, and nothing sideways on a phone`, () =>
      visit(address(view, { model: one.name, ...options }), async (page) => {
        if (one === captioner) await page.locator("input[type=file]").setInputFiles(await scene(page));
        if (one === recogniser) await page.locator("input[type=file]").setInputFiles(melody());
        await page.locator(".tokens, .token-row, .multiples").first().waitFor();
        await settled(page);
        await checkForEveryone(page);
      }, { colorScheme }));
  }
}

test("the page is served whole by the service itself", async () => {
  const answer = await fetch(`${service}/`);
  assert.match(answer.headers.get("content-security-policy"), /default-src 'none'/);
  assert.match(await answer.text(), /\/page\.js/);
});
