/** Reviewing by keyboard: digits score, j k go through the scales, letters choose labels, n sends, s passes over, u takes back. */
import { isOn } from "./preferences.js";
import { startComments } from "./review-comments.js";
import { startHold } from "./review-hold.js";

const page = document.getElementById("review");
const form = document.getElementById("answer");
const scales = [...document.querySelectorAll("[data-scale]")];
let current = 0;

page.toggleAttribute("data-script", true);
if (form) {
  const comments = startComments(page, form);
  startHold(page, form);
  mark(0, false);
  document.addEventListener("keydown", (event) => onKey(event, comments), true);
  form.addEventListener("focusin", ({ target }) => {
    const place = scales.indexOf(target.closest("[data-scale]"));
    if (place >= 0) mark(place, false);
  });
  form.addEventListener("input", ({ target }) => {
    if (target.name?.startsWith("why.") && target.value) unsaid(target.closest("[data-scale]")).checked = true;
  });
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "true";
  });
  addEventListener("pageshow", () => delete form.dataset.sent);
}

function onKey(event, comments) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && isTyping(event.target)) {
    take(event, () => event.target.blur());
    return;
  }
  if (isTyping(event.target) || !isOn("keys")) return;
  if (event.key === "Enter" && isOperable(event.target)) return;
  const action = actionOf(event.key, comments);
  if (action) take(event, action);
}

/** What a key does here; undefined for one that means nothing on this page. */
function actionOf(key, comments) {
  const named = { j: () => mark(current + 1), k: () => mark(current - 1), n: next, Enter: next, s: pass, u: () => press("undo"), x: cannotSay };
  const choosing = { c: comments.comment, ".": () => comments.choose(1), ",": () => comments.choose(-1), ">": () => comments.extend(1), "<": () => comments.extend(-1) };
  if (named[key] ?? choosing[key]) return named[key] ?? choosing[key];
  const point = /^\d$/.test(key) ? scales[current]?.querySelector(`[data-key="${key}"]`) : null;
  if (point) return () => score(point);
  const choice = /^[a-z]$/.test(key) ? form.querySelector(`[data-letter="${key}"]`) : null;
  return choice ? () => choose(choice) : undefined;
}

function take(event, action) {
  event.preventDefault();
  event.stopImmediatePropagation(); // the keys of other pages mean something else
  action();
}

function mark(place, moves = true) {
  if (!scales.length) return;
  current = Math.max(0, Math.min(scales.length - 1, place));
  scales.forEach((scale, number) => scale.classList.toggle("current", number === current));
  if (!moves) return;
  const inside = scales[current].querySelector(":checked") ?? scales[current].querySelector("input");
  inside.focus({ preventScroll: true });
  scales[current].scrollIntoView({ block: "nearest" });
}

/** Scores the marked scale, and goes on to the next one that has no score. */
function score(point) {
  point.checked = true;
  point.dispatchEvent(new Event("input", { bubbles: true }));
  say(`${legend(scales[current])}: ${point.value}`);
  const open = scales.findIndex((scale, number) => number > current && !scale.querySelector(":checked"));
  if (open >= 0) mark(open);
}

function choose(choice) {
  choice.checked = choice.type === "radio" || !choice.checked;
  choice.dispatchEvent(new Event("input", { bubbles: true }));
  say(`${choice.closest("label").textContent.trim()}: ${choice.checked ? gettext("chosen") : gettext("not chosen")}`);
}

function cannotSay() {
  if (!scales.length) return;
  unsaid(scales[current]).checked = true;
  scales[current].querySelector("[name^='why.']").focus();
}

function unsaid(scale) {
  return scale.querySelector("[value=unsaid]");
}

function next() {
  press(document.getElementById("to-next") ? "to-next" : "submit");
}

function pass() {
  const place = document.getElementById("skip");
  if (!place) return;
  place.open = true;
  document.getElementById("skip-reason").focus();
}

function press(id) {
  const button = document.getElementById(id);
  if (button && !button.disabled) button.click();
}

function legend(scale) {
  return scale.querySelector("legend").textContent;
}

function say(words) {
  document.getElementById("announcer").textContent = words;
}

function isTyping(element) {
  return Boolean(element.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]"));
}

/** Enter keeps its meaning on what can be pressed. */
function isOperable(element) {
  return Boolean(element.closest?.("a, button, summary"));
}
