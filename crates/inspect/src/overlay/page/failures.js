// The page: a card for each caption, and which of them are seen in what order.

const signed = (value) => String(Number(value.toPrecision(4))).replace("-", "−");

function listOf(heading, lines) {
  if (lines.length === 0) return [];
  const items = lines.map((line) => element("li", {}, element("bdi", { textContent: line })));
  return [element("h3", { textContent: heading }), element("ul", {}, ...items)];
}

/** What is known of a word, in a sentence. */
function toldOf({ word, weights, probability, inside, hit }, wrong) {
  const parts = [wrong ? "wrong" : null, probability === null ? null : `probability ${probability.toFixed(2)}`,
    `most weight ${shortWeight(most(weights))}`, inside === null ? null : `${Math.round(100 * inside)} % inside the box ${hit ? "✓" : "✗"}`];
  return [element("bdi", { textContent: word }), `: ${parts.filter(Boolean).join(", ")}`];
}

function cardOf(failure) {
  const { name, grid, words, wrong, references, reasons, kinds, score, figures } = failure;
  const canvas = element("canvas", { tabIndex: 0 });
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", `${name || "image"} in ${grid.rows} × ${grid.columns} regions; arrow keys move between them`);
  const row = element("div", { className: "words" });
  row.setAttribute("role", "toolbar");
  row.setAttribute("aria-label", "What was written");
  const told = element("p", { className: "told" });
  const values = figures.map(([figure, value]) =>
    element("div", {}, element("dt", { textContent: figure }), element("dd", { textContent: signed(value) })));
  const card = element("article", { className: "card" },
    element("header", {}, element("h2", {}, element("bdi", { textContent: name })), element("span", { className: "score", textContent: `score ${signed(score)}` })),
    element("figure", { className: "stage" }, canvas), row, told,
    ...listOf("What would be true", references), ...listOf("Why it is wrong", reasons),
    element("ul", { className: "kinds" }, ...kinds.map((kind) => element("li", { textContent: kind }))),
    element("dl", {}, ...values));
  const texts = [name, words.map(({ word }) => word).join(" "), ...references, ...reasons, ...kinds];
  return Object.assign(card, { failure, canvas, row, told, searched: texts.join("\n").toLowerCase() });
}

/** Makes a card answer to the pointer and the keyboard, when it is first seen. */
async function wake(card) {
  const { failure: { picture, grid, words, wrong }, canvas, row, told } = card;
  const stage = new Stage(canvas, await loadPicture(picture), grid, 576);
  const limits = limitsOf(words, false);
  let [pinned, pointed, region] = [null, null, null];
  const draw = () => {
    const index = pointed ?? pinned;
    const focus = index === null ? {} : words[index];
    stage.draw({ weights: focus.weights, limit: limits[index], boxes: focus.boxes, region });
    told.replaceChildren(...(index === null ? [] : toldOf(focus, wrong.includes(index))));
    buttons.forEach((button, at) => {
      button.classList.toggle("on", at === index);
      button.setAttribute("aria-pressed", String(at === pinned));
    });
  };
  const point = (index) => { pointed = index; draw(); };
  const pin = (index) => { pinned = pinned === index ? null : index; draw(); };
  const buttons = wordRow(row, words, wrong, { point, pin });
  stage.onRegion((at) => {
    region = at;
    lightWords(buttons, words, limits, region);
    draw();
    tellRegion(stage, region, words.map(({ word, weights }) => [word, weights]));
  });
  draw();
  card.dataset.ready = "true";
}

const cards = data.cards.map(cardOf);
// A hundred images are decoded as they come into sight.
const seen = new IntersectionObserver((entries) => entries.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => {
  seen.unobserve(target);
  wake(target);
}), { rootMargin: "600px" });
cards.forEach((card) => {
  const [width, height] = [576, 576];
  Object.assign(card.canvas, { width, height });
  wordRow(card.row, card.failure.words, card.failure.wrong, { point: () => {}, pin: () => {} });
  seen.observe(card);
});

const kinds = new Map();
for (const { failure } of cards) for (const kind of new Set(failure.kinds)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
const figures = [...new Set(cards.flatMap(({ failure }) => failure.figures.map(([figure]) => figure)))];
const figureOf = ({ failure }, name) => failure.figures.find(([figure]) => figure === name)?.[1] ?? Infinity;
const commonest = (card) => kinds.get(card.failure.kinds[0]) ?? 0;
const byScore = (one, other) => one.failure.score - other.failure.score;
const orders = {
  worst: byScore,
  best: (one, other) => byScore(other, one),
  kind: (one, other) => commonest(other) - commonest(one)
    || (one.failure.kinds[0] ?? "").localeCompare(other.failure.kinds[0] ?? "") || byScore(one, other),
};
figures.forEach((name, index) => {
  orders[`figure-${index}`] = (one, other) => figureOf(one, name) - figureOf(other, name) || byScore(one, other);
});

/** Puts the cards that were chosen into the order that was chosen. */
function show() {
  const [kind, wanted] = [byId("kind").value, byId("text").value.trim().toLowerCase()];
  const shown = cards.filter(({ failure, searched }) =>
    (kind === "all" || failure.kinds.includes(kind.slice(5))) && searched.includes(wanted));
  shown.sort(orders[byId("order").value] ?? byScore);
  byId("cards").replaceChildren(...shown);
  const rest = data.left_out > 0 ? `; ${data.left_out} better ones were left out` : "";
  byId("count").textContent = `${shown.length} of ${cards.length} captions${rest}`;
}

byId("title").textContent = isolated(data.title);
fillSelect("kind", [["all", "all"], ...[...kinds].sort(([, a], [, b]) => b - a).map(([kind, count]) => [`kind:${kind}`, `${kind} (${count})`])]);
byId("order").replaceChildren(...[["worst", "worst first"], ["best", "best first"], ["kind", "by kind of error"],
  ...figures.map((name, index) => [`figure-${index}`, `lowest ${name}`])].map(([value, textContent]) => element("option", { value, textContent })));
for (const [id, event] of [["order", "change"], ["kind", "change"], ["text", "input"]]) byId(id).addEventListener(event, show);
byId("controls").addEventListener("submit", (event) => event.preventDefault());
show();
