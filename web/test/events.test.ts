import assert from "node:assert/strict";
import { test } from "node:test";
import { EventReader } from "../src/events.js";

test("events are cut however their bytes arrive", () => {
  const text = "event: written\r\ndata: {\"text\":\"il gatto\"}\r\n\r\n: a comment\n\nevent: done\ndata: {}\n\n";
  const expected = [{ name: "written", data: "{\"text\":\"il gatto\"}" }, { name: "done", data: "{}" }];
  for (const size of [1, 3, 7, text.length]) {
    const reader = new EventReader();
    const found = [];
    for (let from = 0; from < text.length; from += size) found.push(...reader.push(text.slice(from, from + size)));
    assert.deepEqual(found, expected, `pieces of ${size}`);
  }
});

test("several lines of data are one event, and an event that does not end is none", () => {
  const reader = new EventReader();
  assert.deepEqual(reader.push("data: one\ndata: two\n\ndata: three\n"), [{ name: "message", data: "one\ntwo" }]);
});
