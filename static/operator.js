/** What is going on: fetched again every few seconds, as long as somebody looks at it and has not held it still. */
import { fetchText } from "./asking.js";
import { localise } from "./times.js";

const EVERY = 5000;
const page = document.getElementById("operator");
const hold = document.getElementById("hold");
const away = document.getElementById("operator-away");
let timer = null;
let isAsking = false;

const isHeld = () => hold.getAttribute("aria-pressed") === "true";

async function look() {
  clearTimeout(timer);
  if (isAsking || isHeld() || document.visibilityState === "hidden") return;
  isAsking = true;
  away.hidden = await fetchOnce();
  isAsking = false;
  timer = setTimeout(look, EVERY);
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
  localise(template.content);
  if (!isHeld()) for (const part of template.content.querySelectorAll("[data-part]")) show(part);
  return true;
}

/** What the reader has open, scrolled to or focused stays. */
function show(fresh) {
  const part = page.querySelector(`[data-part="${fresh.dataset.part}"]`);
  for (const fold of part.querySelectorAll("details[open][data-fold]")) {
    fresh.querySelector(`details[data-fold="${fold.dataset.fold}"]`)?.setAttribute("open", "");
  }
  if (part.innerHTML === fresh.innerHTML) return;
  const stops = (root) => [...root.querySelectorAll("summary, .scroll")];
  const focused = stops(part).indexOf(document.activeElement);
  const places = stops(part).map((one) => [one.scrollLeft, one.scrollTop]);
  part.replaceChildren(...fresh.childNodes);
  stops(part).forEach((one, number) => places[number] && one.scrollTo(...places[number]));
  if (focused >= 0) stops(part)[focused]?.focus({ preventScroll: true });
}

hold.addEventListener("click", () => {
  hold.setAttribute("aria-pressed", String(!isHeld()));
  look();
});
document.addEventListener("visibilitychange", look);
hold.hidden = false;
localise(page);
timer = setTimeout(look, EVERY);
