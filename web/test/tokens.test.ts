import assert from "node:assert/strict";
import { test } from "node:test";
import { received } from "../src/matrix.js";
import { arranged, hasEnd, hasPieces, isRightToLeft, letters, places, plain } from "../src/tokens.js";

const tokens = [
  { text: "▁the", word: 0 }, { text: "▁gat", word: 1 }, { text: "to", word: 1 }, { text: "⟨/s⟩", word: null },
];

test("pieces become words, and ends go", () => {
  assert.deepEqual(places(tokens, { hideEnd: false, words: false }).map(({ text }) => text), ["▁the", "▁gat", "to", "⟨/s⟩"]);
  const shown = places(tokens, { hideEnd: true, words: true });
  assert.deepEqual(shown, [{ text: "the", tokens: [0] }, { text: "gatto", tokens: [1, 2] }]);
  assert(hasPieces(tokens) && hasEnd(tokens));
  assert(!hasPieces(tokens.slice(0, 2)) && !hasEnd(tokens.slice(0, 2)));
});

test("a text that is only an end keeps it", () => {
  assert.equal(places([{ text: "⟨/s⟩", word: null }], { hideEnd: true, words: true }).length, 1);
});

test("marks of tokenizers go, but never all of a token", () => {
  assert.deepEqual(["▁cat", "Ġcat", "##s", "un@@", "cat</w>", "▁"].map(plain), ["cat", "cat", "s", "un", "cat", "▁"]);
});

test("what is left of a row sums to one; nats add up", () => {
  const weights = received([[0.25, 0.125, 0.125, 0.5]]);
  const rows = places(tokens.slice(0, 1), { hideEnd: false, words: false });
  const columns = places(tokens, { hideEnd: true, words: true });
  assert.deepEqual([...arranged(weights, rows, columns, "share").values], [0.5, 0.5]);
  assert.deepEqual([...arranged(weights, rows, columns, "sum").values], [0.25, 0.25]);
});

test("with the end shown nothing is scaled", () => {
  const weights = received([[0.25, 0.125, 0.125, 0.25]]);
  const all = places(tokens, { hideEnd: false, words: false });
  assert.deepEqual([...arranged(weights, all.slice(0, 1), all, "share").values], [0.25, 0.125, 0.125, 0.25]);
});

test("the direction of a text is that of its first letter", () => {
  assert.deepEqual(["12 שלום", "مرحبا hello", "hello مرحبا", "", "…"].map(isRightToLeft), [true, true, false, false, false]);
});

test("bytes become letters where they make some", () => {
  assert.deepEqual(["<0xC3><0xA8>", "x<0xC3><0xA8>y", "<0xC3>", "<0xZZ>"].map(letters), ["è", "xèy", "<0xC3>", "<0xZZ>"]);
});
