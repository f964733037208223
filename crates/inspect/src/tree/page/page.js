// The page: which tree is shown, what is marked in it, and what a token tells.

const chosen = () => Number(byId("chooser").value) || 0;
const tree = () => data.trees[chosen()];
const views = [...document.querySelectorAll(".view")];
let view = views[0];
/** The path that stays marked, as its place in the list. */
let pressed = null;

const boxOf = (index) => view.querySelector(`.node[data-node="${index}"]`);
const nodeOf = (target) => target.closest?.(".node") ?? null;
const numberOf = (box) => Number(box.dataset.node);

function pathTo(index) {
  const path = [];
  for (let at = index; at !== null; at = tree().nodes[at].parent) path.unshift(at);
  return path;
}

/** Marks the nodes of a path and the lines between them. */
function mark(nodes, fade) {
  const wanted = new Set(nodes.map(String));
  for (const box of view.querySelectorAll(".node")) box.classList.toggle("on", wanted.has(box.dataset.node));
  for (const line of view.querySelectorAll("path")) line.classList.toggle("on", wanted.has(line.dataset.to));
  view.classList.toggle("marked", fade && nodes.length > 0);
}

/** Back to the path that was chosen, or to none. */
function rest() {
  byId("tip").hidden = true;
  mark(pressed === null ? [] : tree().paths[pressed].nodes, true);
}

/** Tells the story of a token beside it. */
function tell(box) {
  const index = numberOf(box);
  const node = tree().nodes[index];
  const path = pathTo(index);
  mark(path, false);
  const tokens = path.flatMap((at) => [tokenOf(tree().nodes[at].text), " "]);
  const facts = [
    ["step", node.step],
    ["p of the token", node.probability],
    ["log p of the token", node.log],
    ["log p so far", node.sum],
    ...(node.score === null ? [] : [["normalised score", node.score]]),
    ...(tree().groups > 1 ? [["group", node.group]] : []),
  ];
  const list = facts.flatMap(([name, value]) => [textIn("dt", name), textIn("dd", value)]);
  const tip = byId("tip");
  tip.replaceChildren(element("div", { className: "hypothesis" }, ...tokens), element("dl", {}, ...list), textIn("p", node.story));
  tip.hidden = false;
  place(tip, box.getBoundingClientRect());
}

const textIn = (name, text) => element(name, { textContent: text });
const tokenOf = (text) => textIn("bdi", text);

/** Lists what was written; a click marks its path, and another lets it go. */
function listPaths() {
  const { paths, same } = tree();
  const item = ({ name, text, numbers, greedy }, index) => {
    const button = element("button", { type: "button", className: greedy ? "greedy" : index === 0 ? "best" : "" },
      element("span", { className: "name", textContent: name }), tokenOf(text),
      element("span", { className: "numbers", textContent: numbers }));
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      pressed = pressed === index ? null : index;
      [...byId("paths").querySelectorAll("button")].forEach((other, at) => other.setAttribute("aria-pressed", String(at === pressed)));
      rest();
    });
    button.addEventListener("pointerenter", () => mark(paths[index].nodes, true));
    button.addEventListener("pointerleave", rest);
    return element("li", {}, button);
  };
  const items = paths.map(item);
  if (same) items.push(element("li", { className: "same", textContent: "Greedy search writes the same." }));
  byId("paths").replaceChildren(...items);
}

/** Shows the view that the controls ask for. */
function show() {
  mark([], false);
  const kind = byId("hide").checked ? "kept" : "whole";
  for (const other of views) {
    other.hidden = Number(other.dataset.tree) !== chosen() || other.dataset.kind !== kind;
    if (!other.hidden) view = other;
  }
  const reachable = view.querySelector('.node[tabindex="0"]') ?? boxOf(tree().paths[0]?.nodes[0] ?? 0) ?? view.querySelector(".node");
  reachable?.setAttribute("tabindex", "0");
  rest();
}

function change() {
  pressed = null;
  byId("title").textContent = isolated(tree().title) || "What the search considered";
  listPaths();
  show();
}

/** Left and right along a hypothesis, up and down among what was considered at the same step. */
function next(box, key) {
  const node = tree().nodes[numberOf(box)];
  const seen = (indices) => indices.map(boxOf).filter(Boolean);
  if (key === "ArrowLeft") return node.parent === null ? null : boxOf(node.parent);
  if (key === "ArrowRight") return seen(node.children)[0] ?? null;
  const height = (other) => other.getBoundingClientRect().top;
  const column = [...view.querySelectorAll(".node")].filter((other) => tree().nodes[numberOf(other)].step === node.step);
  column.sort((one, other) => height(one) - height(other));
  return column[column.indexOf(box) + (key === "ArrowDown" ? 1 : -1)] ?? null;
}

function move(event) {
  const box = nodeOf(event.target);
  if (event.key === "Escape") return rest();
  if (!box || !event.key.startsWith("Arrow")) return;
  event.preventDefault();
  const target = next(box, event.key);
  if (!target) return;
  box.setAttribute("tabindex", "-1");
  target.setAttribute("tabindex", "0");
  target.focus();
}

fillSelect("chooser", data.trees.map(({ title }, index) => [String(index), `${index + 1}. ${isolated(title)}`]));
byId("chooser").addEventListener("change", change);
byId("hide").addEventListener("change", show);
byId("controls").addEventListener("submit", (event) => event.preventDefault());
for (const each of views) {
  each.addEventListener("pointerover", (event) => (nodeOf(event.target) ? tell(nodeOf(event.target)) : rest()));
  each.addEventListener("pointerleave", rest);
  each.addEventListener("focusin", (event) => nodeOf(event.target) && tell(nodeOf(event.target)));
  each.addEventListener("focusout", rest);
  each.addEventListener("keydown", move);
  each.addEventListener("scroll", () => (byId("tip").hidden = true), { passive: true });
}
if (data.trees.length > 0) change();
