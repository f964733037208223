// What if: a part of the source is left out or replaced, a head is masked, and the output is seen before and after.

import { option } from "../address.js";
import { Latest, writesOfSource, type Asked } from "../api.js";
import { button, element, fill, toggle } from "../dom.js";
import { regionName } from "../grid.js";
import { hasPieces } from "../tokens.js";
import { empty, invitation, trouble } from "../trouble.js";
import { searchOf } from "./attention.js";
import { isEmpty, optionsOf, parseChanges, sameHead, within, withStretch, type Changes } from "./whatif-changes.js";
import { headGrid, NAMES } from "./whatif-heads.js";
import { greyed, imageChanges } from "./whatif-image.js";
import { outcome, readWords, written, type Outcome } from "./whatif-outcome.js";
import { comparisonPicture } from "./whatif-picture.js";
import { sides } from "./whatif-sides.js";
import { silenced, soundChanges } from "./whatif-sound.js";
import { sourceChanges } from "./whatif-source.js";
import { changedText, spans, type Span } from "./whatif-spans.js";
import type { Context, Mounted, View } from "./view.js";

const REST = 300;

export const whatif: View = {
  id: "what-if",
  title: "What if",
  reads: true,
  suits: (model) => model !== null && model.task !== "bidirectional-language-model",
  mount,
};

/** What is changed, and what that is called. */
interface Named {
  readonly name: string;
  readonly without: (changes: Changes) => Changes;
}

function mount(container: HTMLElement, first: Context): Mounted {
  let context = first;
  let before: Outcome | null = null;
  let after: Outcome | null = null;
  /** log p of the output of before, where the changes hold. */
  let old: number | null = null;
  let askedBefore = "";
  let askedAfter = "";
  /** The text and the changes that were seen last: changes of another text are not of this one. */
  let known: { readonly text: string; readonly told: string } | null = null;
  let words: readonly string[] = [];
  let found: readonly Span[] = [];
  const latest = { before: new Latest(), after: new Latest() };

  const change = (make: (changes: Changes) => Changes): void =>
    context.change({ options: optionsOf(make(changes()), context.state.options) }, "push");
  const source = sourceChanges({
    drop: (place, on) => change((now) => ({
      ...now,
      drops: on ? [...now.drops, place] : now.drops.filter((one) => one !== place),
      edits: new Map([...now.edits].filter(([one]) => one !== place)),
    })),
    // Letter by letter: no step to go back over for each.
    edit: (place, text) => {
      const now = changes();
      const edits = new Map([...now.edits].filter(([one]) => one !== place));
      if (text !== null) edits.set(place, text);
      context.change({ options: optionsOf({ ...now, edits, drops: now.drops.filter((one) => one !== place) }, context.state.options) });
    },
  });
  const heads = headGrid((wanted, on) => change((now) => ({
    ...now,
    masks: [...now.masks.filter((one) => !wanted.some((head) => sameHead(one, head))), ...(on ? wanted : [])],
  })));
  const image = imageChanges((regions, on) => change((now) => ({
    ...now,
    grey: [...now.grey.filter((one) => !regions.includes(one)), ...(on ? regions : [])],
  })));
  const sound = soundChanges((stretch) => change((now) => ({ ...now, mutes: withStretch(now.mutes, stretch) })));
  const pieces = toggle("pieces of words", (on) => context.change({ options: { pieces: on ? "1" : null, drop: null } }));
  const chips = element("ul", { class: "changes", with: { "aria-label": "Changes" } });
  const compared = sides();
  const place = element("div", { class: "whatif-place" });
  const input = element("div", { class: "whatif-input" });
  fill(container, input, heads.whole, chips, place);
  chips.tabIndex = -1;

  function changes(): Changes {
    const told = parseChanges(context.state.options);
    const reads = context.model?.reads;
    const mine = {
      ...told,
      ...(reads !== "texts" && { drops: [], edits: new Map<number, string>() }),
      ...(reads !== "images" && { grey: [] }),
      ...(reads !== "sounds" && { mutes: [] }),
    };
    return within(mine, context.model?.heads ?? [], before ? words.length : Infinity);
  }

  function named(now: Changes): Named[] {
    const grid = before?.trace?.grid;
    return [
      ...now.drops.map((one): Named => ({
        name: `without “${words[one] ?? ""}”`,
        without: (all) => ({ ...all, drops: all.drops.filter((other) => other !== one) }),
      })),
      ...[...now.edits].map(([one, text]): Named => ({
        name: `“${words[one] ?? ""}” → “${text}”`,
        without: (all) => ({ ...all, edits: new Map([...all.edits].filter(([other]) => other !== one)) }),
      })),
      ...now.masks.map((head): Named => ({
        name: `${NAMES[head.attention]}, layer ${head.layer}, head ${head.head} masked`,
        without: (all) => ({ ...all, masks: all.masks.filter((other) => !sameHead(other, head)) }),
      })),
      ...(now.grey.length > 4
        ? [{ name: `${now.grey.length} regions painted over`, without: (all: Changes) => ({ ...all, grey: [] }) }]
        : now.grey.map((one): Named => ({
          name: `${grid ? regionName(grid, one) : `region ${one + 1}`} painted over`,
          without: (all) => ({ ...all, grey: all.grey.filter((other) => other !== one) }),
        }))),
      ...now.mutes.map((one): Named => ({
        name: `${one.from.toFixed(2)}–${one.to.toFixed(2)} s silent`,
        without: (all) => ({ ...all, mutes: all.mutes.filter((other) => other.from !== one.from) }),
      })),
    ];
  }

  function showChanges(): void {
    const all = named(changes());
    const items = all.map(({ name, without }) => element("li", {}, button(`${name} ×`, () => {
      change(without);
      chips.focus();
    }, { class: "change", with: { "aria-label": `Take back: ${name}` } })));
    const every = all.length > 1 ? [element("li", {}, button("Take back all", () => {
      change(() => ({ drops: [], edits: new Map(), masks: [], grey: [], mutes: [] }));
      chips.focus();
    }, { class: "plain" }))] : [];
    fill(chips, ...items, ...every);
    chips.classList.toggle("none", all.length === 0);
    if (all.length === 0) fill(chips, element("li", { class: "quiet" }, "No changes."));
  }

  function say(what: HTMLElement): void {
    before = null;
    after = null;
    place.classList.remove("waiting");
    fill(place, what);
    context.exportable();
  }

  /** What can be changed of the source. */
  function offer(): void {
    const now = context.source;
    const pieced = before?.trace ? hasPieces(before.trace.source) : false;
    pieces.whole.hidden = !pieced;
    pieces.control.checked = option(context.state, "pieces", "") === "1";
    if (!now || !before) {
      fill(input);
    } else if (now.kind === "text") {
      const read = before.trace ? readWords(before.trace.source, pieces.control.checked) : now.text.split(/\s+/).filter(Boolean);
      found = spans(now.text, read);
      words = found.map(({ from, to }) => now.text.slice(from, to));
      if (source.whole.parentElement !== input) fill(input, source.whole, pieces.whole);
      source.show(words, changes());
    } else if (now.kind === "image") {
      const grid = before.trace?.grid;
      if (image.whole.parentElement !== input) fill(input, grid ? image.whole : null);
      if (grid) image.show(now.file, grid, changes().grey, context.ground);
    } else {
      if (sound.whole.parentElement !== input) fill(input, sound.whole);
      sound.show(now.file, changes().mutes, context.ground);
    }
    heads.show(context.model?.heads ?? [], changes());
    showChanges();
  }

  function play(): void {
    if (!before) return;
    place.classList.remove("waiting");
    if (compared.whole.parentElement !== place) fill(place, compared.whole);
    compared.show(before, after, after ? old : null, context.ground);
    context.exportable();
  }

  function bare(): Asked | null {
    const asked = context.asked();
    const { model } = context;
    return asked && model ? { ...asked, ...(writesOfSource(model) ? searchOf(context) : {}) } : null;
  }

  /** The request with the changes in it. */
  async function changed(asked: Asked, now: Changes): Promise<Asked> {
    const of = context.source;
    const mask = now.masks.length > 0 ? { mask: now.masks } : {};
    const grid = before?.trace?.grid;
    if (of?.kind === "text") return { ...asked, text: changedText(of.text, found, now), ...mask };
    if (of?.kind === "image" && grid && now.grey.length > 0) return { ...asked, image: await greyed(of.file, grid, now.grey), ...mask };
    if (of?.kind === "sound" && now.mutes.length > 0) return { ...asked, sound: await silenced(of.file, now.mutes), ...mask };
    return { ...asked, ...mask };
  }

  function askAfter(): void {
    const { model } = context;
    const asked = bare();
    const now = changes();
    if (!before || !model || !asked) return;
    if (isEmpty(now)) {
      latest.after.stop();
      askedAfter = "";
      after = null;
      play();
      return;
    }
    const key = JSON.stringify([askedBefore, optionsOf(now, new Map())]);
    if (key === askedAfter) {
      play();
      return;
    }
    const typed = askedAfter !== "";
    askedAfter = key;
    const was = before;
    place.classList.add("waiting");
    void latest.after.run(async (signal) => {
      const request = await changed(asked, now);
      if (request.text?.trim() === "") throw new Error("nothing is left of the source; take a change back");
      const made = await outcome(context.service, model, request, signal);
      if (!writesOfSource(model) || was.text === "") return { made, still: null };
      const target = written(await context.service.trace({ ...request, target: was.text }, signal));
      return { made, still: target.log };
    }, ({ made, still }) => {
      after = made;
      old = still;
      play();
      context.announce(`${compared.summary()} ${made.text}`);
    }, (error) => {
      after = null;
      place.classList.remove("waiting");
      fill(place, trouble(error, () => {
        askedAfter = "";
        askAfter();
      }));
      context.exportable();
    }, typed ? REST : 0);
  }

  function ask(): void {
    const { model } = context;
    const asked = bare();
    if (!model || !asked) {
      latest.before.stop();
      latest.after.stop();
      askedBefore = "";
      askedAfter = "";
      say(empty(invitation(model?.reads ?? "texts")));
      offer();
      return;
    }
    const key = JSON.stringify([asked, model.load]);
    if (key === askedBefore) {
      offer();
      askAfter();
      return;
    }
    const typed = askedBefore !== "";
    askedBefore = key;
    askedAfter = "";
    latest.after.stop();
    place.classList.add("waiting");
    void latest.before.run((signal) => outcome(context.service, model, asked, signal), (made) => {
      before = made;
      after = null;
      offer();
      askAfter();
    }, (error) => say(trouble(error, () => {
      askedBefore = "";
      ask();
    })), typed ? REST : 0);
  }

  /** Another text takes its changes along only if both came together, with an address. */
  function isStale(): boolean {
    const now = parseChanges(context.state.options);
    const told = JSON.stringify([now.drops, [...now.edits]]);
    const stale = known !== null && known.text !== context.state.text && known.told === told && now.drops.length + now.edits.size > 0;
    known = { text: context.state.text, told };
    return stale;
  }

  return {
    update(next: Context) {
      context = next;
      if (isStale()) {
        known = null;
        const now = parseChanges(next.state.options);
        next.change({ options: optionsOf({ ...now, drops: [], edits: new Map() }, next.state.options) });
        return;
      }
      ask();
    },
    exported() {
      if (!before) return null;
      const told = named(changes()).map(({ name }) => name);
      const data = ({ text, said, log, shares, trace }: Outcome): unknown => ({
        text, log_probability: log, words: said, probabilities: Object.fromEntries(shares), weights: trace?.weights ?? null,
      });
      return {
        name: `${context.model?.name ?? "model"}-what-if`,
        picture: comparisonPicture(before, after, told, context.ground),
        data: {
          model: context.model?.name,
          ...(context.source?.kind === "text" && { source: context.source.text, changed: changedText(context.source.text, found, changes()) }),
          changes: told,
          before: data(before),
          after: after && data(after),
          before_under_the_changes: after ? old : null,
        },
      };
    },
    unmount() {
      latest.before.stop();
      latest.after.stop();
      compared.close();
      sound.close();
    },
  };
}

