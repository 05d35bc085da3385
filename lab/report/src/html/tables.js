// Sorts and filters tables, opens the folded target of a link, and shows the answers of the reader's language. Without
// this script, they are plain tables with the same content, and the reader opens folded sections.
"use strict";
(() => {
  const FILTER_FROM_ROWS = 8;
  const live = document.createElement("p");
  live.className = "spoken";
  live.setAttribute("role", "status");
  document.body.append(live);

  // The sort key of a cell: its first number, or its text; text with several numbers (1.10a) is compared naturally.
  // Rows without a key come last.
  const key = (row, column) => {
    const cell = row.cells[column];
    if (!cell || cell.colSpan > 1) return null;
    const text = (cell.querySelector("b") ?? cell).textContent.trim();
    const figure = /^[+-]?[\d,]*\.?\d+/.exec(text.replace("−", "-"));
    if (figure && !cell.matches("th, .id")) return Number(figure[0].replaceAll(",", ""));
    return text === "" || text === "n/a" || text.startsWith("–") ? null : text.toLowerCase();
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
    return typeof a === "number" ? -1 : 1;
  };

  const sort = (table, column, button) => {
    const head = button.closest("th");
    const descending = head.ariaSort === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.ariaSort = descending ? "descending" : "ascending";
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, key: key(row, column) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return descending ? compare(b.key, a.key) : compare(a.key, b.key);
    });
    body.append(...rows.map(({ row }) => row));
    live.textContent = `Sorted by ${button.textContent.trim()}, ${head.ariaSort}.`;
  };

  const sortable = (table) => {
    const heads = table.tHead?.rows[0]?.cells ?? [];
    [...heads].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, column, button));
    });
  };

  const filterable = (table) => {
    const rows = [...table.tBodies[0].rows];
    const label = document.createElement("label");
    label.className = "filter";
    const input = document.createElement("input");
    input.type = "search";
    input.spellcheck = false;
    const shown = document.createElement("span");
    label.append("Filter ", input, shown);
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      rows.forEach((row, index) => {
        row.hidden = !words.every((word) => texts[index].includes(word));
        if (!row.hidden) count += 1;
      });
      shown.textContent = words.length ? `${count} of ${rows.length} rows` : "";
      live.textContent = words.length ? `${count} of ${rows.length} rows are shown.` : "All rows are shown.";
    };
    input.addEventListener("input", apply);
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      input.value = "";
      apply();
    });
    (table.closest(".scroll") ?? table).before(label);
  };

  // Some browsers do not open a folded section that contains the target of a link.
  const open = () => {
    const target = document.getElementById(location.hash.slice(1));
    const folded = [];
    const own = target?.matches("section") ? target.querySelector(":scope > details") : target?.closest("details");
    for (let at = own; at; at = at.parentElement.closest("details")) folded.push(at);
    if (folded.every((details) => details.open)) return;
    for (const details of folded) details.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();

  // Shows the cards of a language and a case in place of those of all languages, and opens its part of the page.
  const chooser = document.getElementById("choose");
  if (chooser) {
    const [language, verifier, hidden] = ["my-language", "who-verifies", "hidden-claims"].map((id) => document.getElementById(id));
    const partOf = (name) => document.getElementById(`language-${name}`)?.closest("details");
    const ofCase = (part, asked) => [...part.querySelectorAll(`[data-case="${asked}"]`)];
    const all = document.querySelector("#answers .cards3");
    // What is about all languages.
    const general = [...document.querySelectorAll("#recommendation, #language > .cards3, #language > .cards3 + details, #answers > details")];
    general.push(...[...document.querySelectorAll("nav a[href='#recommendation']")].map((link) => link.closest("li")));
    let shown = all;
    const apply = () => {
      const asked = hidden.checked ? "hidden" : verifier.value;
      const names = [...language.options].map((option) => option.value).filter(Boolean);
      const chosen = language.value ? ofCase(partOf(language.value), asked) : names.flatMap((name) => ofCase(partOf(name), asked).slice(0, 1));
      let cards = all;
      if (language.value || asked !== "public") {
        cards = all.cloneNode(false);
        cards.append(...chosen.map((card) => card.cloneNode(true)));
      }
      for (const one of general) one.hidden = language.value !== "";
      shown.replaceWith(cards);
      shown = cards;
      for (const name of names) {
        partOf(name).open = name === language.value;
        partOf(name).hidden = !["", name].includes(language.value);
        // They are at the top of the page.
        for (const card of partOf(name).querySelectorAll("[data-case]")) card.hidden = name === language.value;
        for (const own of ["public", "shared", "hidden"]) {
          const ranking = document.getElementById(`${name}-${own}`)?.closest("details");
          if (ranking) ranking.open = own === asked;
        }
      }
      live.textContent = `${cards.children.length} answers are shown.`;
    };
    for (const control of [language, verifier, hidden]) control.addEventListener("change", apply);
    chooser.hidden = false;
  }

  for (const table of document.querySelectorAll("table")) {
    const rows = table.tBodies[0]?.rows.length ?? 0;
    if (rows < 2 || !table.tHead) continue;
    sortable(table);
    if (rows >= FILTER_FROM_ROWS) filterable(table);
  }
})();
