// The panel in which a source is given: a field for texts, a place to drop an image or a recording.

import type { ModelInfo } from "./api.js";
import { button, element, fill, show } from "./dom.js";
import { drawWave } from "./wave.js";
import { canRecord, decoded, Player, record } from "./sound.js";
import { loaded, type Loaded, type Source } from "./source.js";
import type { Ground } from "./scale.js";

export interface Input {
  readonly whole: HTMLElement;
  update(model: ModelInfo | null, source: Source | null, text: string, ground: Ground): void;
}

export interface InputEvents {
  text(text: string): void;
  file(kind: "image" | "sound", file: Loaded): void;
  failed(message: string): void;
}

const LABELS: Readonly<Record<string, readonly [label: string, hint: string]>> = {
  translate: ["Text to translate", "Type a sentence"],
  classify: ["Text to classify", "Type a sentence"],
  label: ["Text to label, word by word", "Type a sentence"],
  "language-model": ["Beginning of a text", "Type how it begins"],
  "masked-language-model": ["Text with gaps", "Type a sentence; [MASK] is a gap"],
};

export function input(events: InputEvents): Input {
  const label = element("label", { with: { for: "source-text" } }, "Text");
  const field = element("textarea", {
    id: "source-text",
    with: { rows: 2, dir: "auto", spellcheck: "false", autocomplete: "off", autocapitalize: "off" },
    on: { input: () => events.text(field.value) },
  });
  const count = element("span", { class: "quiet", with: { "aria-hidden": "true" } });
  const clear = button("Clear", () => {
    field.value = "";
    events.text("");
    field.focus();
  }, { class: "plain" });
  const texts = element("div", { class: "source-text" }, element("div", { class: "source-head" }, label, count, clear), field);

  const image = imageInput(events);
  const sound = soundInput(events);
  const whole = element("section", { class: "source", with: { "aria-label": "What the model reads" } });

  return {
    whole,
    update(model, source, text, ground) {
      const reads = model?.reads ?? "texts";
      const [title, hint] = LABELS[model?.task ?? ""] ?? ["Text", "Type a sentence"];
      label.textContent = title;
      field.placeholder = hint;
      field.lang = model?.languages?.source ?? "";
      show(field, text);
      count.textContent = text ? `${[...text].length} characters` : "";
      clear.hidden = !text;
      const panel = reads === "images" ? image.whole : reads === "sounds" ? sound.whole : texts;
      if (panel.parentElement !== whole) fill(whole, panel);
      image.update(source?.kind === "image" ? source.file : null);
      sound.update(source?.kind === "sound" ? source.file : null, ground);
    },
  };
}

/** A place for files: to be chosen, dropped or pasted. */
function place(
  kind: "image" | "sound",
  accept: string,
  events: InputEvents,
  ...rest: HTMLElement[]
): { whole: HTMLElement; take(files: FileList | null | undefined): boolean } {
  const chooser = element("input", {
    class: "visually-hidden",
    with: { type: "file", accept, "aria-label": kind === "image" ? "Choose an image" : "Choose a recording" },
    on: { change: () => take(chooser.files) },
  });
  const take = (files: FileList | null | undefined): boolean => {
    const file = [...(files ?? [])].find((one) => one.type.startsWith(kind === "image" ? "image/" : "audio/")) ?? files?.[0];
    if (!file) return false;
    loaded(file, file.name || kind).then((found) => events.file(kind, found), (error: unknown) => events.failed(String(error)));
    return true;
  };
  const choose = element("label", { class: "button" }, kind === "image" ? "Choose an image" : "Choose a recording", chooser);
  const whole = element("div", {
    class: "drop",
    on: {
      dragover: (event) => {
        event.preventDefault();
        whole.classList.add("over");
      },
      dragleave: () => whole.classList.remove("over"),
      drop: (event) => {
        event.preventDefault();
        whole.classList.remove("over");
        take(event.dataTransfer?.files);
      },
    },
  }, choose, ...rest);
  document.addEventListener("paste", (event) => {
    if (whole.isConnected && take(event.clipboardData?.files)) event.preventDefault();
  });
  return { whole, take };
}

function imageInput(events: InputEvents): { whole: HTMLElement; update(file: Loaded | null): void } {
  const preview = element("img", { with: { alt: "" } });
  const told = element("span", { class: "quiet" }, "or drop it here, or paste it");
  const frame = element("div", { class: "preview empty" }, preview);
  const { whole } = place("image", "image/png,image/jpeg,image/bmp,image/webp", events, told);
  whole.prepend(frame);
  let shown: Loaded | null = null;
  let address = "";
  return {
    whole,
    update(file) {
      if (file === shown) return;
      shown = file;
      if (address) URL.revokeObjectURL(address);
      address = file ? imageAddress(file) : "";
      frame.classList.toggle("empty", !file);
      preview.hidden = !file;
      if (file) preview.src = address;
      preview.alt = file ? `The image that is read: ${file.name}` : "";
      told.textContent = file ? file.name : "or drop it here, or paste it";
    },
  };
}

/** An address under which the page shows a file. */
export function imageAddress(file: Loaded): string {
  return URL.createObjectURL(new Blob([file.bytes.slice()], { type: file.kind }));
}

function soundInput(events: InputEvents): { whole: HTMLElement; update(file: Loaded | null, ground: Ground): void } {
  const told = element("span", { class: "quiet" }, "or drop it here");
  let shown: Loaded | null = null;
  const player = new Player(() => {
    play.textContent = player.isPlaying ? "Stop" : "Play";
  });
  const play = button("Play", () => {
    if (player.isPlaying) player.stop();
    else if (shown) decoded(shown).then((buffer) => player.play(buffer)).catch(() => events.failed("the browser cannot play this file"));
  });
  let recording: { stop(): Promise<Loaded> } | null = null;
  const listen = button("Record", () => {
    const now = recording;
    if (now) {
      recording = null;
      listen.textContent = "Record";
      listen.classList.remove("recording");
      now.stop().then((file) => events.file("sound", file), () => events.failed("nothing was recorded; try again"));
      return;
    }
    record().then((begun) => {
      recording = begun;
      listen.textContent = "Stop recording";
      listen.classList.add("recording");
    }, () => events.failed("the microphone may not be used; allow it in the browser, or choose a file"));
  });
  const wave = element("canvas", { class: "wave", with: { role: "img", "aria-label": "The recording over time" } });
  const { whole } = place("sound", ".wav,.flac,.ogg,.mp3,audio/*", events, ...(canRecord() ? [listen] : []), play, told);
  whole.append(wave);
  return {
    whole,
    update(file, ground) {
      play.hidden = !file;
      wave.hidden = !file;
      if (file !== shown) {
        player.stop();
        shown = file;
        told.textContent = file ? file.name : "or drop it here";
      }
      if (file) {
        decoded(file).then((buffer) => {
          if (shown !== file) return;
          told.textContent = `${file.name}, ${buffer.duration.toFixed(1)} s`;
          drawWave(wave, buffer, ground);
        }).catch(() => undefined);
      }
    },
  };
}
