import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, difference, pieces } from "../src/difference.js";

function told(before: string, after: string): string {
  return difference(pieces(before), pieces(after)).map((part) =>
    part.kind === "same" ? part.before : part.kind === "gone" ? `-${part.before}` : `+${part.after}`).join(" ");
}

test("what stays, what is gone and what is new, in order", () => {
  assert.equal(told("il gatto è sul tavolo", "il gatto è sul tavolo"), "il gatto è sul tavolo");
  assert.equal(told("il gatto è sul tavolo", "il cane è sul tavolo"), "il -gatto +cane è sul tavolo");
  assert.equal(told("a b c", ""), "-a -b -c");
  assert.equal(told("", "a b"), "+a +b");
  assert.equal(told("", ""), "");
  assert.equal(told("a b c d", "b c e d"), "-a b c +e d");
  assert.equal(told("a a b", "a b"), "a -a b");
  assert.equal(told("one two", "three four"), "-one -two +three +four", "gone before new");
});

test("both sequences can be read off, and no more than needed is other", () => {
  // Sequences over three letters; a slow, obvious length of the longest common subsequence beside it.
  let seed = 1;
  const letter = (): string => {
    seed = (seed * 48271) % 2147483647;
    return "abc".charAt(seed % 3);
  };
  const longest = (one: string, other: string): number =>
    one === "" || other === "" ? 0
      : one.charAt(0) === other.charAt(0) ? 1 + longest(one.slice(1), other.slice(1))
        : Math.max(longest(one.slice(1), other), longest(one, other.slice(1)));
  for (let round = 0; round < 200; round += 1) {
    const [one, other] = [round % 9, (round * 7) % 8].map((length) => Array.from({ length }, letter));
    const parts = difference(one ?? [], other ?? []);
    assert.deepEqual(parts.flatMap((part) => (part.kind === "new" ? [] : [part.before])), one);
    assert.deepEqual(parts.flatMap((part) => (part.kind === "gone" ? [] : [part.after])), other);
    const same = parts.length - counted(parts).gone - counted(parts).fresh;
    assert.equal(same, longest((one ?? []).join(""), (other ?? []).join("")));
  }
});

test("items are compared by their names, and too long a middle is other as a whole", () => {
  const items = [{ text: "A" }, { text: "b" }];
  assert.equal(counted(difference(items, [{ text: "a" }, { text: "b" }], ({ text }) => text.toLowerCase())).gone, 0);
  const many = (stem: string): string[] => ["first", ...Array.from({ length: 3000 }, (_, place) => `${stem}${place % 2}`), "last"];
  const parts = difference(many("x"), many("y"));
  assert.deepEqual(counted(parts), { gone: 3000, fresh: 3000 });
  assert.equal(parts.length, 6002);
});
