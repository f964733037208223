// What the reader points at.

/** Shows the value of a cell, and marks its row and column in every panel. */
function showTip(cell) {
  const { view, panels } = shown;
  const [row, column] = [cell.parentElement.rowIndex - 1, cell.cellIndex - 1];
  const tables = [...document.querySelectorAll("table")];
  const pointed = tables.indexOf(cell.closest("table"));
  hideTip();
  tables.forEach((table) => mark(table, row, column));
  const values = panels.flatMap((panel, index) => {
    const className = index === pointed && panels.length > 1 ? "pointed" : "";
    const value = exactNumber(panel.values[row][column], panel);
    return [element("dt", { className, textContent: panel.name }), element("dd", { className, textContent: value })];
  });
  tell(view, row, column, values, cell.getBoundingClientRect());
}

/** Shows the value below the pointer in one of many heads. */
function showHeadTip({ clientX, clientY, target }) {
  const part = target.closest(".head");
  if (!part) return hideTip();
  const { view } = shown;
  const { panel } = part;
  const box = part.querySelector(".frame").getBoundingClientRect();
  const at = (place, start, length, count) => Math.max(0, Math.min(count - 1, Math.floor(((place - start) / length) * count)));
  const row = at(clientY, box.top, box.height, view.target.length);
  const column = at(clientX, box.left, box.width, view.source.length);
  const value = element("dd", { textContent: exactNumber(panel.values[row][column], panel) });
  const [left, top] = [clientX - 4, clientY - 4];
  tell(view, row, column, [element("dt", { textContent: panel.name }), value], { left, top, right: clientX + 4, bottom: clientY + 4 });
}

function tell(view, row, column, values, near) {
  const tokens = element("div", {}, element("bdi", { textContent: view.target[row] }), " ← ");
  tokens.append(element("bdi", { textContent: view.source[column] }));
  const tip = byId("tip");
  tip.replaceChildren(tokens, element("dl", {}, ...values));
  tip.hidden = false;
  place(tip, near);
}

function mark(table, row, column) {
  const line = table.rows[row + 1];
  const cell = line.cells[column + 1];
  const [across, down] = table.parentElement.querySelectorAll(".band");
  const body = table.tBodies[0];
  const put = (band, left, top, width, height) => {
    Object.assign(band.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    band.hidden = false;
  };
  const first = line.cells[1];
  put(across, first.offsetLeft, cell.offsetTop, table.offsetWidth - first.offsetLeft, cell.offsetHeight);
  put(down, cell.offsetLeft, body.offsetTop, cell.offsetWidth, body.offsetHeight);
  line.cells[0].classList.add("here");
  table.rows[0].cells[column + 1].classList.add("here");
}

function hideTip() {
  byId("tip").hidden = true;
  document.querySelectorAll(".band").forEach((band) => (band.hidden = true));
  document.querySelectorAll("th.here").forEach((cell) => cell.classList.remove("here"));
}

/** The arrow keys move from cell to cell; one cell of a table at a time can be reached by Tab. */
function moveFocus(event) {
  const cell = event.target.closest("td");
  if (event.key === "Escape") return hideTip();
  const line = cell?.parentElement;
  const next = {
    ArrowRight: () => cell.nextElementSibling,
    ArrowLeft: () => cell.previousElementSibling,
    ArrowDown: () => line.nextElementSibling?.cells[cell.cellIndex],
    ArrowUp: () => line.previousElementSibling?.cells[cell.cellIndex],
    Home: () => line.cells[1],
    End: () => line.cells[line.cells.length - 1],
  }[event.key];
  if (!cell || !next) return;
  event.preventDefault();
  const target = next();
  if (target?.tagName !== "TD") return;
  cell.tabIndex = -1;
  target.tabIndex = 0;
  target.focus();
}
