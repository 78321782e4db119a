"use strict";
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = row => {
      const cell = row.cells[column];
      return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
    };
    const compare = (a, b) => {
      if (typeof a !== "number" || typeof b !== "number") return String(a).localeCompare(String(b));
      return Number.isNaN(a) - Number.isNaN(b) || a - b;
    };
    const rows = [...table.tBodies[0].rows].map(row => [key(row), row]);
    rows.sort((a, b) => (up ? 1 : -1) * compare(a[0], b[0]));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }));
}
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
});
