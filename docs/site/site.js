// Makes long tables sortable, and wide tables scrollable by keyboard. On phones, site.css shows rows of text as cards.
"use strict";

const NUMBER = /^[-−±~<>]?\s*[\d.,]+/;

/** Returns the number at the start of a cell, or null. */
function number(cell) {
  const found = NUMBER.exec(cell.textContent.trim());
  return found ? Number(found[0].replace(/[^\d.-]/g, "")) : null;
}

function sort(table, column, head) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => {
    const cell = row.cells[column];
    return { row, text: cell.textContent.trim(), value: number(cell) };
  });
  const compare = (a, b) =>
    a.value !== null && b.value !== null ? a.value - b.value : a.text.localeCompare(b.text, "en", { numeric: true });
  rows.sort((a, b) => (a.text === "" ? 1 : b.text === "" ? -1 : down ? compare(b, a) : compare(a, b)));
  table.tBodies[0].append(...rows.map(({ row }) => row));
}

for (const table of document.querySelectorAll(".md-content table:not([class])")) {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  const rows = [...(table.tBodies[0]?.rows ?? [])];
  if (heads.length < 3 || rows.length === 0) continue;
  const labels = heads.map((head) => head.textContent.trim());
  const cells = rows.flatMap((row) => [...row.cells].slice(1));
  for (const row of rows) [...row.cells].forEach((cell, i) => (cell.dataset.label = labels[i]));
  const short = cells.filter((cell) => cell.textContent === "" || (number(cell) !== null && cell.textContent.length < 24));
  table.dataset.kind = 2 * short.length > cells.length ? "numbers" : "words";
  if (rows.length < 8) continue;
  heads.forEach((head, column) => {
    if (labels[column] === "") return;
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort by this column";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(table, column, head));
  });
}

// Makes elements that scroll sideways focusable, so that they can be scrolled by keyboard.
const scrolled = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) {
      target.tabIndex = 0;
      target.setAttribute("role", "region");
      target.setAttribute("aria-label", "Wide table");
    } else {
      target.removeAttribute("tabindex");
      target.removeAttribute("role");
    }
  }
});
addEventListener("load", () => document.querySelectorAll(".md-typeset__scrollwrap").forEach((it) => scrolled.observe(it)));
