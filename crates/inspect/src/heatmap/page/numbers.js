// How values become text and colours: the same as in the pictures that the program draws itself.

const minus = (text) => text.replace("-", "−");

/** A value as it stands in a cell. */
function shortNumber(value, panel) {
  const text = (value / 10 ** panel.unit).toFixed(panel.decimals);
  if (!/[1-9]/.test(text)) return "0";
  if (panel.scale === "share") return text.replace(/^0\./, ".");
  return value > 0 ? "+" + text : minus(text);
}

/** A value in full. */
function exactNumber(value, panel) {
  if (panel.scale === "share") return value.toFixed(4);
  const text = value === 0 ? "0" : String(Number(value.toPrecision(4)));
  return value > 0 ? "+" + text : minus(text);
}

/** The class that colours a step of a scale. */
function stepClass(step, scale) {
  return (scale === "share" ? "s" : step < 0 ? "n" : "p") + Math.abs(step);
}

/** The class that colours a value. */
function valueClass(value, panel) {
  const part = Math.max(-1, Math.min(1, value / panel.limit));
  return stepClass(Math.round(part * data.steps), panel.scale);
}

/** All steps of a scale, from its low end to its high end. */
function scaleSteps(scale) {
  const low = scale === "share" ? 0 : -data.steps;
  return Array.from({ length: data.steps - low + 1 }, (_, index) => low + index);
}

/** The size of cells: wide enough for the tokens over them if these are few, and smaller as tokens become many. */
function cellSize(view) {
  const clamp = (low, value, high) => Math.max(low, Math.min(value, high));
  const room = 720 / view.source.length;
  const height = Math.floor(clamp(14, 560 / view.target.length, 30));
  const wanted = Math.ceil(Math.max(...view.source.map((token) => textWidth(token, 13))) + 10);
  const width = wanted <= Math.min(room, 84) ? Math.max(wanted, 46) : Math.floor(clamp(14, room, 46));
  const small = width < 34 || height < 15;
  const labelSize = small ? Math.min(width - 2, height - 3, 12) : 13;
  const flat = view.source.every((token) => textWidth(token, labelSize) <= width - 4);
  return { width, height, small, labelSize, flat };
}
