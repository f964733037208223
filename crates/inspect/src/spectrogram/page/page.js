// The page: a sound that plays, its spectrogram, a row for each token, and a cursor that goes over all of them.

const sound = byId("sound");
const stage = byId("stage");
const chosen = () => data.items[Number(byId("chooser").value) || 0];
const dark = matchMedia("(prefers-color-scheme: dark)");
/** Where the cursor is, in seconds. */
let moment = 0;

const seconds = (time) => `${Math.max(0, time).toFixed(2)} s`;
const hertz = (pitch) => (pitch >= 1000 ? `${Math.round(pitch / 100) / 10} kHz` : `${Math.round(pitch)} Hz`);
const part = (time) => Math.min(1, Math.max(0, (time - chosen().start) / chosen().seconds));

/** The token that is listened to at a moment: the last that has begun. */
function tokenAt(time) {
  let last = -1;
  chosen().tokens.forEach(({ heard }, number) => {
    if (heard && heard[0] <= time + 1e-6 && (last < 0 || heard[0] >= chosen().tokens[last].heard[0])) last = number;
  });
  return last;
}

/** What is known of a token, in a sentence. */
function story({ token, heard, known, probability }) {
  const parts = [];
  if (heard) parts.push(`listened to from ${seconds(heard[0])} to ${seconds(heard[1])}`);
  if (known) parts.push(`sounds from ${seconds(known[0])} to ${seconds(known[1])}`);
  if (probability !== null) parts.push(`probability ${probability.toFixed(4)}`);
  return [element("bdi", { textContent: token }), `: ${parts.join(", ")}.`];
}

function strip({ weights, known }) {
  const { seconds: whole, step } = chosen();
  const canvas = element("canvas", { width: weights.length, height: 1 });
  canvas.style.width = `${(100 * weights.length * step) / whole}%`;
  const context = canvas.getContext("2d");
  const colours = dark.matches ? data.dark : data.light;
  const most = Math.max(...weights, Number.MIN_VALUE);
  weights.forEach((weight, place) => {
    context.fillStyle = `rgb(${colours[Math.round((weight / most) * (colours.length - 1))]})`;
    context.fillRect(place, 0, 1, 1);
  });
  const row = element("div", { className: "time row" }, canvas);
  if (known) {
    const frame = element("div", { className: "known" });
    frame.style.left = `${100 * part(known[0])}%`;
    frame.style.width = `${100 * (part(known[1]) - part(known[0]))}%`;
    row.append(frame);
  }
  return row;
}

/** Ticks at seconds, or parts of them, that are round. */
function ticks() {
  const { start, seconds: whole } = chosen();
  const step = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60].find((step) => whole / step <= 12) ?? 60;
  const found = [];
  for (let time = 0; time <= start + whole; time += step) {
    const tick = element("span", { textContent: `${Number(time.toFixed(2))} s` });
    tick.style.left = `${100 * part(time)}%`;
    found.push(tick);
  }
  byId("axis").replaceChildren(...found);
}

/** Puts the cursor where the moment is, and lights the token of it. */
function follow(time) {
  moment = time;
  const box = byId("spectrogram");
  byId("cursor").style.left = `${box.offsetLeft + part(time) * box.offsetWidth}px`;
  const now = time > 0 || !sound.paused ? tokenAt(time) : -1;
  const lit = (all) => [...all].forEach((one, number) => one.classList.toggle("on", number === now));
  for (const all of [".word", "#stage > .label", ".row"]) lit(document.querySelectorAll(all));
  if (now >= 0) byId("told").replaceChildren(...story(chosen().tokens[now]));
  else byId("told").replaceChildren();
}

/** Hears the sound from a moment on. */
function hear(time) {
  follow(Math.max(0, time));
  if (!chosen().sound) return;
  sound.currentTime = Math.max(0, time);
  sound.play().catch(() => {}); // a browser may wait for the reader to press play
}

function show() {
  const item = chosen();
  byId("title").textContent = isolated(item.title);
  byId("picture").src = item.picture;
  byId("picture").style.width = `${(100 * item.drawn) / item.seconds}%`;
  byId("low").textContent = hertz(item.pitches[0]);
  byId("high").textContent = hertz(item.pitches[1]);
  sound.pause();
  sound.hidden = !item.sound;
  if (item.sound) sound.src = item.sound;
  document.querySelectorAll("#stage > .label, #stage > .row").forEach((old) => old.remove());
  const words = item.tokens.map((token) => {
    const word = element("button", { type: "button", className: "word" }, element("bdi", { textContent: token.token }));
    word.addEventListener("click", () => hear(token.heard ? token.heard[0] : 0));
    return word;
  });
  byId("words").replaceChildren(...words);
  for (const token of item.tokens) {
    const label = element("div", { className: "label" }, element("bdi", { textContent: token.token }));
    stage.insertBefore(label, byId("cursor"));
    stage.insertBefore(strip(token), byId("cursor"));
  }
  ticks();
  follow(0);
  document.body.dataset.ready = "yes";
}

/** The second that a pointer is over; none beside the axis of time. */
function pointed(event) {
  const box = byId("spectrogram").getBoundingClientRect();
  const share = (event.clientX - box.left) / box.width;
  return share >= 0 && share <= 1 ? chosen().start + share * chosen().seconds : null;
}

stage.addEventListener("click", (event) => {
  const time = pointed(event);
  if (time !== null) hear(time);
});
stage.addEventListener("pointermove", (event) => {
  const time = pointed(event);
  const tip = byId("tip");
  tip.hidden = time === null;
  if (time === null) return;
  const { start, step, tokens } = chosen();
  const place_of = Math.min(tokens[0].weights.length - 1, Math.max(0, Math.floor((time - start) / step)));
  const best = tokens.map(({ token, weights }) => [weights[place_of], token]).sort((a, b) => b[0] - a[0]).slice(0, 3);
  const list = element("dl", {}, ...best.filter(([weight]) => weight > 0.005).flatMap(([weight, token]) => [
    element("dt", {}, element("bdi", { textContent: token })), element("dd", { textContent: weight.toFixed(3) }),
  ]));
  tip.replaceChildren(element("strong", { textContent: seconds(time) }), list);
  place(tip, { left: event.clientX, right: event.clientX, top: event.clientY, bottom: event.clientY });
});
stage.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
stage.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -0.05, ArrowRight: 0.05, Home: -Infinity }[event.key];
  if (event.key === " ") {
    if (sound.paused) hear(moment);
    else sound.pause();
  } else if (by !== undefined) {
    const end = chosen().start + chosen().seconds;
    const time = Math.min(end, Math.max(0, moment + by));
    if (chosen().sound) sound.currentTime = time;
    follow(time);
  } else return;
  event.preventDefault();
});

/** While the sound plays, the cursor goes with it. */
function run() {
  if (sound.paused) return;
  follow(sound.currentTime);
  requestAnimationFrame(run);
}
sound.addEventListener("play", run);
sound.addEventListener("seeked", () => follow(sound.currentTime));
byId("chooser").addEventListener("change", show);
byId("controls").addEventListener("submit", (event) => event.preventDefault());
dark.addEventListener("change", show);
addEventListener("resize", () => follow(moment));
fillSelect("chooser", data.items.map(({ title }, number) => [String(number), title || `sound ${number + 1}`]));
if (data.items.length > 0) show();
