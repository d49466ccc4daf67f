// A list of items that can be sorted and filtered, and a page for each item. Loads nothing, and writes text only as
// text: what the items say comes from strangers. The part of the URL behind # says what is shown:
//   #list?find=TEXT&tag=KEY&sort=COLUMN   (-COLUMN sorts downwards)      #item?NAME      anything else: the overview
"use strict";
(() => {
  const ROWS_AT_ONCE = 100;
  const byId = (id) => document.getElementById(id);
  const views = { overview: byId("overview"), list: byId("list"), item: byId("item") };
  const number = new Intl.NumberFormat("en");
  const collator = new Intl.Collator("en", { numeric: true });
  let data, chosen = [], shownRows = 0, lastList = "#list";

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  async function unpack(id) {
    const bytes = Uint8Array.from(atob(byId(id).textContent), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }

  const itemLink = (name) => make("a", { href: "#item?" + encodeURIComponent(name) }, name);

  // The list

  function cell(value, column) {
    if (column === 0) return make("th", { scope: "row" }, itemLink(value));
    const isNumber = data.columns[column].kind === "number";
    return make("td", isNumber ? { class: "number" } : {}, value === null ? "" : isNumber ? number.format(value) : value);
  }

  function showMore() {
    const next = chosen.slice(shownRows, shownRows + ROWS_AT_ONCE);
    byId("rows").append(...next.map((index) => make("tr", {}, ...data.rows[index].map(cell))));
    shownRows += next.length;
    const more = byId("more");
    more.hidden = shownRows >= chosen.length;
    more.textContent = `Show ${number.format(Math.min(ROWS_AT_ONCE, chosen.length - shownRows))} more of ${number.format(chosen.length - shownRows)}`;
  }

  function compare(column, sign) {
    const isNumber = data.columns[column].kind === "number";
    const compareValues = isNumber ? (one, other) => one - other : collator.compare;
    return (one, other) => {
      const [left, right] = [data.rows[one][column], data.rows[other][column]];
      if (left === null || right === null) return (left === null) - (right === null) || one - other;
      return sign * compareValues(left, right) || one - other;
    };
  }

  function showList(query) {
    const find = query.get("find") || "", tag = query.get("tag") || "", sort = query.get("sort") || "";
    const lower = find.toLowerCase(), tagged = data.tags.find((each) => each.key === tag);
    const all = tagged ? tagged.rows : data.rows.map((_, index) => index);
    chosen = all.filter((index) => !lower || data.rows[index][0].toLowerCase().includes(lower));
    const sign = sort.startsWith("-") ? -1 : 1, column = Number.parseInt(sort.replace("-", ""), 10);
    if (data.columns[column]) chosen = [...chosen].sort(compare(column, sign));
    for (const [index, head] of [...byId("heads").children].entries()) {
      if (index === column) head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
    if (byId("find").value !== find) byId("find").value = find;
    byId("tag").value = tagged ? tag : "";
    byId("count").textContent = `${number.format(chosen.length)} of ${number.format(data.rows.length)} ${data.noun}`;
    byId("tag-text").textContent = tagged ? tagged.text : "";
    byId("rows").replaceChildren();
    shownRows = 0;
    showMore();
    byId("none").hidden = chosen.length > 0;
  }

  function listQuery() {
    return new URLSearchParams(location.hash.startsWith("#list?") ? location.hash.slice(6) : "");
  }

  function change(name, value) {
    const query = listQuery();
    if (value) query.set(name, value);
    else query.delete(name);
    history.replaceState(null, "", `#list?${query}`);
    show();
  }

  function changeSort(column) {
    const now = listQuery().get("sort") || "";
    const first = data.columns[column].kind === "number" ? `-${column}` : `${column}`;
    const other = first.startsWith("-") ? `${column}` : `-${column}`;
    change("sort", now === first ? other : first);
  }

  function prepareList() {
    byId("heads").append(...data.columns.map((column, index) => {
      const button = make("button", { type: "button" }, column.label);
      button.addEventListener("click", () => changeSort(index));
      return make("th", { scope: "col", ...(column.kind === "number" ? { class: "number" } : {}) }, button);
    }));
    const groups = new Map();
    for (const tag of data.tags) {
      if (!groups.has(tag.group)) groups.set(tag.group, make("optgroup", { label: tag.group }));
      groups.get(tag.group).append(make("option", { value: tag.key }, `${tag.label} (${number.format(tag.rows.length)})`));
    }
    byId("tag").append(...groups.values());
    byId("find").addEventListener("input", (event) => change("find", event.target.value));
    byId("tag").addEventListener("change", (event) => change("tag", event.target.value));
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("more").addEventListener("click", showMore);
  }

  // An item

  function lineButton(line) {
    const button = make("button", { type: "button", class: "link" }, `line ${number.format(line)}`);
    button.addEventListener("click", () => {
      const row = byId(`line-${line}`);
      if (row) row.scrollIntoView({ block: "center" });
      if (row) row.focus();
    });
    return button;
  }

  function mark([colour, text, lines]) {
    const links = (lines || []).flatMap((line) => [" ", byId(`line-${line}`) ? lineButton(line) : `line ${number.format(line)}`]);
    return make("li", {}, make("i", { class: colour }), text, ...links);
  }

  function sourceLine(line, text, notes) {
    const code = make("td", {}, make("code", {}, text), ...notes.map(([colour, note]) =>
      make("span", { class: `note ${colour}` }, note)));
    return make("tr", { id: `line-${line}`, tabindex: "-1" },
      make("th", { scope: "row" }, number.format(line)), code);
  }

  async function showItem(name) {
    const index = data.rows.findIndex((row) => row[0] === name);
    byId("item-name").textContent = index < 0 ? `There is no “${name}” here` : name;
    for (const id of ["facts", "marks", "source"]) byId(id).replaceChildren();
    byId("source-text").textContent = "";
    byId("source-box").hidden = true;
    if (index < 0) return;
    const items = await unpack(`items-${Math.floor(index / data.chunk)}`);
    const item = items[index % data.chunk];
    byId("source-box").hidden = !item.source.length;
    byId("source").append(...item.source.map((text, at) => sourceLine(at + 1, text, item.notes[at + 1] || [])));
    byId("source-text").textContent = item.text;
    byId("facts").append(...item.facts.map(([label, ...values]) =>
      make("div", {}, make("dt", {}, label), ...values.map((value) => make("dd", {}, value)))));
    byId("marks").append(...item.marks.map(([heading, marks]) =>
      make("section", {}, make("h2", {}, heading), make("ul", { class: "marks" }, ...marks.map(mark)))));
  }

  // What is shown

  let current = "";
  async function show() {
    const [, name, rest] = /^#(list|item)(?:\?(.*))?$/.exec(location.hash) || [null, "overview", ""];
    if (name === "list") {
      lastList = location.hash;
      showList(listQuery());
    }
    if (name === "item") {
      byId("back").setAttribute("href", lastList);
      await showItem(decodeURIComponent(rest || ""));
    }
    for (const [each, view] of Object.entries(views)) view.hidden = each !== name;
    for (const link of byId("views").querySelectorAll("a")) {
      if (link.dataset.view === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (current && (name !== current || name === "item")) {
      const heading = views[name].querySelector("h1");
      heading.setAttribute("tabindex", "-1");
      heading.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    current = name;
  }

  function openAll(isPrinting) {
    for (const details of document.querySelectorAll(isPrinting ? "details:not([open])" : "details[data-printed]")) {
      details.open = isPrinting;
      details.toggleAttribute("data-printed", isPrinting);
    }
  }

  async function start() {
    data = await unpack("index");
    prepareList();
    byId("views").hidden = false;
    document.documentElement.classList.add("explores");
    addEventListener("hashchange", show);
    addEventListener("beforeprint", () => openAll(true));
    addEventListener("afterprint", () => openAll(false));
    await show();
  }

  start();
})();
