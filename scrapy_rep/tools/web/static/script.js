// The page works without this: it answers as one types, shows the steps of a fetch, takes dropped files and makes links.
"use strict";

const form = document.getElementById("ask");
const answer = document.getElementById("answer");
const file = form.elements.file;
const robots = form.elements.robots;
const steps = document.getElementById("steps");
const WAIT = 500; // milliseconds after the last key
const LONGEST_LINK = 8_000_000; // characters of an unpacked question

document.documentElement.classList.add("has-script");

const status = () => document.getElementById("status");

// With isSeen, only for those who hear the page.
function say(text, isSeen = false) {
  status().textContent = text;
  status().classList.toggle("hidden", isSeen);
}

// Asking.

let asking = null;
let timer = 0;

async function ask(submitter) {
  clearTimeout(timer);
  asking?.abort();
  const mine = asking = new AbortController();
  answer.classList.add("busy");
  say("Checking");
  try {
    const body = new FormData(form, submitter ?? undefined);
    if (!submitter) body.set("action", "check");
    const response = await fetch("./", { method: "POST", body, signal: mine.signal });
    const page = await read(response, mine);
    const fields = page.getElementById("ask")?.elements;
    if (asking !== mine || !fields) return; // a newer question, or a page that only says what is wrong
    if (["apply", "confirm"].includes(submitter?.name)) setRobots(fields.robots.value);
    if (submitter?.value === "example") useExample(fields);
    // The URLs that the server filled in follow the file until a person writes others.
    for (const name of isFilled() ? ["urls", "filled"] : []) {
      form.elements[name].value = fields[name].value;
    }
  } catch (error) {
    if (error.name !== "AbortError") showProblem(error.message);
  } finally {
    if (asking === mine) {
      answer.classList.remove("busy");
      asking = null;
    }
  }
}

// Show the sentences as soon as they are there, and the rest at the end.
async function read(response, mine) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let isShown = false;
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    text += chunk.value;
    if (!isShown && text.includes("<!-- end of file -->")) {
      isShown = true;
      show(text);
      say("Asking for the verdicts");
    }
  }
  if (mine.signal.aborted) throw new DOMException("", "AbortError");
  return show(text);
}

function show(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const scrolled = document.querySelector(".file")?.scrollTop ?? 0;
  const found = page.getElementById("answer");
  if (!found) throw new Error("Something between this page and the checker answered instead of it.");  // such as a proxy
  const isBusy = answer.classList.contains("busy");
  const focused = answer.contains(document.activeElement) ? document.activeElement : null;
  const isOpen = new Map([...answer.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
  answer.replaceChildren(...document.importNode(found, true).childNodes);
  answer.classList.toggle("busy", isBusy);
  for (const [id, open] of isOpen) if (document.getElementById(id)) document.getElementById(id).open = open;
  if (focused) focusAgain(focused);
  const list = document.querySelector(".file");
  if (list) list.scrollTop = scrolled;
  // Who sees the page reads the counts at their headings.
  const facts = [...answer.querySelectorAll("[data-status]")].map((one) => one.dataset.status);
  say(facts.join(", "), facts.length > 0);
  return page;
}

// The focus stays where it was: at the place that the server names, at the same element, or at what held that.
function focusAgain(focused) {
  answer.querySelector("[autofocus]")?.focus();
  for (let one = focused; one && !answer.contains(document.activeElement); one = one.parentElement) {
    const again = one.id ? document.getElementById(one.id) : null;
    (again?.matches("details") ? again.querySelector("summary") : again)?.focus();
  }
  if (!answer.contains(document.activeElement)) answer.focus();
}

function showProblem(message) {
  const problem = document.createElement("p");
  problem.className = "problem";
  problem.setAttribute("role", "alert");
  problem.textContent = message;
  answer.querySelectorAll(".problem, .empty").forEach((one) => one.remove());
  say("");
  status().after(problem);
}

function isFilled() {
  const { urls, filled } = form.elements;
  return ["", filled.value].includes(urls.value) && document.activeElement !== urls;
}

function askSoon() {
  clearTimeout(timer);
  timer = setTimeout(() => ask(), WAIT);
}

form.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (["csv", "save"].includes(button?.value)) return;
  event.preventDefault();
  if (button?.value === "fetch") fetchSite();
  else ask(button).then(() => button?.name === "action" && scrollToAnswer()); // a fix has its own place to look at
});

// An answer whose beginning is above the screen, or in its lower half, would not be noticed.
function scrollToAnswer() {
  const { top } = answer.getBoundingClientRect();
  if (top < 0 || top > window.innerHeight / 2) answer.scrollIntoView();
}

// What is typed counts instead of the file, and of what was fetched.
form.addEventListener("input", (event) => {
  if (event.target === robots) forgetSource();
  if (event.target !== form.elements.site && event.target !== file) askSoon();
});

function forgetSource() {
  file.value = "";
  form.elements.source.value = "";
}

function useExample(fields) {
  forgetSource();
  form.elements.urls.value = "";
  setRobots(fields.robots.value);
}

function setRobots(text) {
  robots.value = text;
  file.value = "";
}

// Files.

async function take(chosen) {
  if (!chosen) return;
  if (chosen.size > Number(file.dataset.most)) {
    file.value = "";
    showProblem(`The file has ${chosen.size.toLocaleString("en")} bytes, which is too much for a robots.txt.`);
    return;
  }
  const text = await chosen.text();
  forgetSource();
  robots.value = text;
  attach(chosen);
  ask();
}

// The octets of a file that is no UTF-8 would not survive the text field.
function attach(chosen) {
  const transfer = new DataTransfer();
  transfer.items.add(chosen);
  file.files = transfer.files;
}

file.addEventListener("change", () => take(file.files[0]));

const place = document.getElementById("drop");
const hasFile = (event) => [...event.dataTransfer.types].includes("Files");

document.addEventListener("dragover", (event) => {
  if (!hasFile(event)) return;
  event.preventDefault();
  place.classList.add("over");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) place.classList.remove("over");
});
document.addEventListener("drop", (event) => {
  if (!hasFile(event)) return;
  event.preventDefault();
  place.classList.remove("over");
  take(event.dataTransfer.files[0]);
});

// Fetching.

let fetching = null;
document.getElementById("stop").addEventListener("click", () => fetching?.abort());

async function fetchSite() {
  fetching?.abort();
  const mine = fetching = new AbortController();
  const bar = document.getElementById("fetching");
  steps.replaceChildren();
  bar.hidden = false;
  try {
    const response = await fetch("api/fetch", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ site: form.elements.site.value }),
      signal: mine.signal,
    });
    if (!response.ok) throw new Error((await response.json()).error);
    const found = await followSteps(response);
    if (found) useFetched(found);
  } catch (error) {
    addStep(error.name === "AbortError" ? "stopped" : error.message);
    if (error.name !== "AbortError") showProblem(error.message);
  } finally {
    if (fetching === mine) bar.hidden = true;
  }
}

async function followSteps(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let found = null;
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const lines = (rest + chunk.value).split("\n");
    rest = lines.pop();
    for (const line of lines.map((one) => JSON.parse(one))) {
      if (line.error) throw new Error(line.error);
      if (line.step) addStep(line.step);
      else found = line;
    }
  }
  return found;
}

function addStep(text) {
  const step = document.createElement("li");
  step.textContent = text;
  steps.append(step);
}

function useFetched(found) {
  robots.value = found.robots;
  const octets = Uint8Array.from(atob(found.octets), (one) => one.charCodeAt(0));
  if (octets.length) attach(new File([octets], "robots.txt"));
  else file.value = "";
  form.elements.source.value = JSON.stringify(found.source);
  ask().then(scrollToAnswer);
}

// Links: the question, packed, after the #.

const BOXES = ["agents", "categories"];
const KEPT = ["site", "robots", "urls", "filled", "names", "dialect", "source"];

async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const octets = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const octet of octets) binary += String.fromCharCode(octet);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const octets = Uint8Array.from(binary, (one) => one.charCodeAt(0));
  const stream = new Blob([octets]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let found = "";
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    found += chunk.value;
    if (found.length > LONGEST_LINK) throw new Error("too long");
  }
  return found;
}

async function share() {
  const question = Object.fromEntries(KEPT.map((name) => [name, form.elements[name].value]));
  for (const name of BOXES) question[name] = new FormData(form).getAll(name);
  const link = new URL(`./#q=${await packed(JSON.stringify(question))}`, location.href).href;
  history.replaceState(null, "", link);
  const field = document.getElementById("link");
  document.getElementById("shared").hidden = false;
  field.value = link;
  field.select();
  try {
    await navigator.clipboard.writeText(link);
    say("The link is copied.");
  } catch {
    say("The link is in the address bar.");
  }
}

// The buttons come with each answer.
answer.addEventListener("click", (event) => {
  if (event.target.id === "share") share();
  if (event.target.id === "print") window.print();
});

async function openLink() {
  if (!location.hash.startsWith("#q=")) return;
  try {
    const question = JSON.parse(await unpacked(location.hash.slice(3)));
    forgetSource();
    for (const name of KEPT) form.elements[name].value = String(question[name] ?? "");
    for (const name of BOXES) {
      const chosen = new Set(question[name]);
      for (const box of form.querySelectorAll(`[name=${name}]`)) box.checked = chosen.has(box.value);
    }
    ask().then(scrollToAnswer);
  } catch {
    showProblem("The link is damaged: a part of it may be missing.");
  }
}

window.addEventListener("hashchange", openLink);
openLink();
if (location.search && document.querySelector(".verdict")) scrollToAnswer();  // a bookmark that was fetched

// Hovering over a verdict shows why; a click, the keyboard and a finger do the same without a script.

let hovered = null;

function beside(popover, cell) {
  const at = cell.getBoundingClientRect();
  const left = Math.min(at.left, window.innerWidth - popover.offsetWidth - 12);
  const isRoom = at.bottom + popover.offsetHeight < window.innerHeight;
  popover.style.left = `${Math.max(left, 12)}px`;
  popover.style.top = `${isRoom ? at.bottom : Math.max(at.top - popover.offsetHeight, 8)}px`;
}

document.addEventListener("toggle", (event) => {
  if (event.target.matches?.(".why") && event.newState === "open") {
    beside(event.target, event.target.closest("td"));
  }
}, true);

answer.addEventListener("pointerover", (event) => {
  if (event.pointerType !== "mouse") return;
  const popover = event.target.closest("td")?.querySelector(".why");
  if (hovered && hovered !== popover) {
    hovered.hidePopover();
    hovered = null;
  }
  if (popover && !popover.matches(":popover-open")) {
    popover.showPopover();
    hovered = popover;
  }
});

// A click on what hovering has opened keeps it open.
answer.addEventListener("click", (event) => {
  const popover = event.target.closest("[popovertarget]")?.popoverTargetElement;
  if (popover && popover === hovered) {
    event.preventDefault();
    hovered = null;
  }
});
