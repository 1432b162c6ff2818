/** The page of a campaign: what changes is fetched again every two seconds while it runs, then until its ladders
 * have been computed, as long as somebody looks at it.
 */
import { fetchText } from "../../asking.js";
import { localise } from "../../times.js";

const EVERY = 2000;
const SLOW = 8000;
const page = document.getElementById("campaign");
const bar = document.getElementById("status");
let timer = null;
let isAsking = false;

const isOver = () => "over" in bar.dataset;
const isSettled = () => "settled" in bar.dataset;

async function look() {
  if (isAsking || isSettled() || document.visibilityState === "hidden") return;
  clearTimeout(timer);
  isAsking = true;
  const isAway = !(await fetchOnce());
  isAsking = false;
  if (!isSettled()) timer = setTimeout(look, isAway ? SLOW : EVERY);
}

/** Whether an answer came. Somebody who was signed out, or may not see it any more, finds out by loading the page. */
async function fetchOnce() {
  const found = await fetchText(page.dataset.live, { redirect: "manual" });
  if (!found) return false;
  const { answer, text } = found;
  if (answer.type === "opaqueredirect" || answer.status === 404) location.reload();
  if (!answer.ok) return false;
  const template = document.createElement("template");
  template.innerHTML = text;
  if (template.content.querySelector("[data-withheld]")) location.reload();
  show(template.content);
  return true;
}

function show(fresh) {
  const before = bar.dataset.state;
  const head = fresh.querySelector("#status");
  for (const name of Object.keys(bar.dataset)) if (!(name in head.dataset)) delete bar.dataset[name];
  Object.assign(bar.dataset, head.dataset);
  localise(fresh);
  for (const part of fresh.querySelectorAll("[data-part]")) showPart(part);
  if (bar.dataset.state !== before) tellState();
  title();
}

/** Forms with tokens change only when other actions are offered; what the reader has open or focused stays. */
function showPart(fresh) {
  const part = page.querySelector(`[data-part="${fresh.dataset.part}"]`);
  if (!part) return;
  const isSame = "actions" in fresh.dataset ? part.dataset.actions === fresh.dataset.actions : part.innerHTML === fresh.innerHTML;
  if (isSame) return;
  for (const fold of part.querySelectorAll("details[open][data-fold]")) {
    fresh.querySelector(`details[data-fold="${fold.dataset.fold}"]`)?.setAttribute("open", "");
  }
  const scrolled = part.querySelector(".scroll");
  const place = scrolled && { left: scrolled.scrollLeft, top: scrolled.scrollTop };
  const focused = part.contains(document.activeElement) ? pathTo(document.activeElement, part) : null;
  if ("actions" in fresh.dataset) part.dataset.actions = fresh.dataset.actions;
  part.replaceChildren(...fresh.childNodes);
  if (place) part.querySelector(".scroll")?.scrollTo({ ...place, behavior: "instant" });
  if (focused) (focused(part) ?? part.querySelector("button, a") ?? bar).focus({ preventScroll: true });
}

/** Finds what had the focus among the fresh elements: by its address, or by being the only one of its kind. */
function pathTo(element, part) {
  const address = element.getAttribute("href");
  const tag = element.tagName.toLowerCase();
  const number = [...part.querySelectorAll(tag)].indexOf(element);
  return (fresh) => (address && fresh.querySelector(`${tag}[href="${CSS.escape(address)}"]`)) || fresh.querySelectorAll(tag)[number];
}

function tellState() {
  document.getElementById("announcer").textContent = `${page.dataset.title}: ${bar.querySelector(".state").textContent.trim()}`;
}

function title() {
  const names = { percent: bar.dataset.percent, title: page.dataset.title };
  document.title = isOver() ? page.dataset.title : interpolate(gettext("▶ %(percent)s %% · %(title)s"), names, true);
}

document.addEventListener("visibilitychange", look);
title();
timer = setTimeout(look, EVERY);
