import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, EMPTY, format, oneOf, option, parse, whole } from "../src/address.js";

test("an address tells the whole state, and comes back as it was", () => {
  const state = changed(EMPTY, { view: "attention", model: "en-it", text: "a & b = ç? #1 +\n«٣»", options: { heads: "max", beam: "5" } });
  const address = format(state);
  assert.match(address, /^#\/attention\?model=en-it&text=/);
  const back = parse(address);
  assert.deepEqual([back.view, back.model, back.text], ["attention", "en-it", "a & b = ç? #1 +\n«٣»"]);
  assert.deepEqual([...back.options].sort(), [["beam", "5"], ["heads", "max"]]);
  assert.equal(format(back), address);
});

test("equal states have equal addresses, in whatever order they came about", () => {
  const one = changed(changed(EMPTY, { options: { b: "2" } }), { options: { a: "1" } });
  const other = changed(EMPTY, { options: { a: "1", b: "2" } });
  assert.equal(format(one), format(other));
  assert.equal(format(changed(one, { options: { a: null, b: "" } })), "#/");
});

test("what makes no sense is left out", () => {
  assert.equal(parse("#/../x?model=m").view, "");
  assert.equal(parse("").view, "");
  assert.equal(parse(`#/write?text=${"x".repeat(300_000)}`).text, "");
  assert.deepEqual([...parse("#/write?__proto__=1&Heads=2&ok=3").options], [["ok", "3"]]);
  assert.equal(parse("#/write?text=%E0%A4%A").view, "write");
});

test("options are read within their bounds", () => {
  const state = parse("#/heads?kind=decoder&layer=3&head=x");
  assert.equal(oneOf(state, "kind", ["cross", "decoder"]), "decoder");
  assert.equal(oneOf(state, "other", ["cross", "decoder"]), "cross");
  assert.equal(whole(state, "layer", 1, 4), 3);
  assert.equal(whole(state, "layer", 1, 2), undefined);
  assert.equal(whole(state, "head", 0, 9), undefined);
  assert.equal(option(state, "nothing", "so"), "so");
});
