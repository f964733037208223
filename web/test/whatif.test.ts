import assert from "node:assert/strict";
import { test } from "node:test";
import { toWav } from "../src/source.js";
import { isEmpty, optionsOf, parseChanges, within, withStretch, type Changes } from "../src/views/whatif-changes.js";
import { changedText, spans } from "../src/views/whatif-spans.js";
import { muted, wave } from "../src/views/whatif-wav.js";

const NONE: Changes = { drops: [], edits: new Map(), masks: [], grey: [], mutes: [] };

test("changes go through the address", () => {
  const changes: Changes = {
    drops: [1, 4],
    edits: new Map([[2, "dog & cat"]]),
    masks: [{ attention: "cross", layer: 1, head: 2 }, { attention: "encoder", layer: 2, head: 1 }],
    grey: [0, 3],
    mutes: [{ from: 0.5, to: 0.8 }, { from: 1.2, to: 1.4 }],
  };
  const options = optionsOf(changes, new Map([["edit.9", "gone"], ["beam", "4"]]));
  assert.deepEqual(options, {
    "edit.9": null, "edit.3": "dog & cat", drop: "2.5", grey: "1.4", mask: "cross.1.2-encoder.2.1", mute: "0.5-0.8_1.2-1.4",
  });
  const told = new Map(Object.entries(options).filter((entry): entry is [string, string] => entry[1] !== null));
  assert.deepEqual(parseChanges(told), changes);
  assert.equal(isEmpty(changes), false);
  assert.equal(isEmpty(parseChanges(new Map([["beam", "4"]]))), true);
});

test("what makes no sense in an address is left out", () => {
  const told = parseChanges(new Map([["drop", "0.2.2"], ["mask", "cross.1-pooling.1.1-cross.2.3-x"], ["grey", "a"], ["mute", "2-1_0.5-0.7_-1-2"], ["edit.0", "x"]]));
  assert.deepEqual(told, { ...NONE, drops: [1], masks: [{ attention: "cross", layer: 2, head: 3 }], mutes: [{ from: 0.5, to: 0.7 }] });
  const few = within({ ...NONE, drops: [1, 7], edits: new Map([[9, "x"]]), masks: [{ attention: "cross", layer: 3, head: 1 }] },
    [{ attention: "cross", layers: 2, heads: 4 }], 3);
  assert.deepEqual(few, { ...NONE, drops: [1] });
});

test("words are found in the text that was typed", () => {
  const words = (text: string, read: readonly string[]): string[] => spans(text, read).map(({ from, to }) => text.slice(from, to));
  assert.deepEqual(words("The  cat, here", ["the", "cat", ",", "here"]), ["The", "cat", ",", "here"]);
  assert.deepEqual(words("a b a", ["a", "b", "a"]), ["a", "b", "a"]);
  assert.deepEqual(words("the xyzzy sits", ["the", "⟨unk⟩", "sits"]), ["the", "xyzzy", "sits"]);
  assert.deepEqual(words("xx yy", ["⟨unk⟩", "⟨unk⟩"]), ["xx", "yy"]);
  assert.deepEqual(words("one two three", ["four"]), ["one", "two", "three"], "cut at spaces where nothing fits");
  assert.deepEqual(words("one two", ["two"]), ["one", "two"]);
  assert.deepEqual(words("猫在桌子上", ["猫", "在", "桌子", "上"]), ["猫", "在", "桌子", "上"]);
  assert.deepEqual(words("İİ cat", ["cat"]), ["İİ", "cat"]);
  assert.deepEqual(words("", []), []);
});

test("a word is left out with one of its spaces, or replaced", () => {
  const text = "the old cat, here";
  const places = spans(text, ["the", "old", "cat", ",", "here"]);
  assert.equal(changedText(text, places, { ...NONE, drops: [1] }), "the cat, here");
  assert.equal(changedText(text, places, { ...NONE, drops: [0] }), "old cat, here");
  assert.equal(changedText(text, places, { ...NONE, drops: [4] }), "the old cat,");
  assert.equal(changedText(text, places, { ...NONE, drops: [3] }), "the old cat here");
  assert.equal(changedText(text, places, { ...NONE, drops: [0, 1, 2, 3, 4] }), "");
  assert.equal(changedText(text, places, { ...NONE, drops: [1], edits: new Map([[2, "dog"]]) }), "the dog, here");
  assert.equal(changedText(text, places, NONE), text);
});

test("stretches that meet become one", () => {
  assert.deepEqual(withStretch([{ from: 0, to: 1 }, { from: 2, to: 3 }], { from: 0.5, to: 1.5 }), [{ from: 0, to: 1.5 }, { from: 2, to: 3 }]);
  assert.deepEqual(withStretch([{ from: 2, to: 3 }, { from: 0, to: 1 }], { from: 1, to: 2 }), [{ from: 0, to: 3 }]);
});

test("a stretch of a WAV file becomes silent, and nothing else changes", () => {
  const file = toWav(new Float32Array(1000).fill(0.5), 100);
  const found = wave(file);
  assert.deepEqual([found?.rate, found?.frame, found?.bits, found?.from], [100, 2, 16, 44]);
  const made = muted(file, [{ from: 2, to: 3 }, { from: 9.5, to: 99 }]);
  assert(made);
  const samples = new Int16Array(made.slice(44).buffer);
  assert.deepEqual([...samples.keys()].filter((place) => samples[place] === 0), [...Array.from({ length: 100 }, (_, place) => 200 + place), ...Array.from({ length: 50 }, (_, place) => 950 + place)]);
  assert.deepEqual([...made.subarray(0, 44)], [...file.subarray(0, 44)]);
  assert.equal(muted(file.subarray(0, 30), []), null);
  assert.equal(muted(new Uint8Array(100), []), null);
  const compressed = file.slice();
  compressed[20] = 85;
  assert.equal(muted(compressed, []), null, "no samples that can be told apart");
});
