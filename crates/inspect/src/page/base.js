// What every page needs.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Puts options, as pairs of value and text, into a select, and keeps what was chosen there if it still is there. */
function fillSelect(id, options, wanted = byId(id).value) {
  const select = byId(id);
  select.replaceChildren(...options.map(([value, textContent]) => element("option", { value, textContent })));
  const known = options.some(([value]) => value === wanted);
  if (options.length > 0) select.value = known ? wanted : options[0][0];
  byId(`${id}-label`).hidden = options.length < 2;
}

/** A token keeps its own direction, whatever stands beside it; and so does each side of an arrow. */
function isolated(text) {
  const part = (part) => (/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.test(part) ? `\u2068${part}\u2069` : part);
  return text.split(" → ").map(part).join(" → ");
}

/** Puts the tip below and to the right of the cell, or at its other side near the edge of the window. */
function place(tip, cell) {
  const { width, height } = tip.getBoundingClientRect();
  const left = cell.right + 10 + width > innerWidth ? cell.left - 10 - width : cell.right + 10;
  const top = cell.bottom + 10 + height > innerHeight ? cell.top - 10 - height : cell.bottom + 10;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}
