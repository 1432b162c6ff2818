/** The page of a talk: the composer, the tokens and the figures beside it. The news come from run.js. */
import "../../tokens.js";
import { Composer } from "./composer.js";

const SOON = 400; // ms in which several events make one request
const page = document.getElementById("run");
const transcript = document.getElementById("transcript");
const composer = document.getElementById("composer") ? new Composer(page) : null;
let timer = null;

page.addEventListener("news", ({ detail }) => {
  if (detail.type === "said") composer?.said(detail.data.key);
  if (!detail.type.startsWith("message_")) return;
  dress();
  clearTimeout(timer);
  timer = setTimeout(fetchFigures, SOON);
});
keepRoomForComposer();
dress();
if (composer && !composer.isOver && !location.hash) showEnd();

/** What a pushed fragment cannot know: the researcher's name, and which of several answers it is. */
function dress() {
  const { persona } = page.dataset;
  if (persona) for (const name of transcript.querySelectorAll("[data-persona]")) write(name, persona);
  number();
  fillConfidences();
}

function number() {
  const turns = Map.groupBy(transcript.querySelectorAll(".answer:not(.is-live)"), (answer) => answer.dataset.turn);
  for (const answers of turns.values()) {
    answers.forEach((answer, at) => {
      const place = answer.querySelector("[data-number]");
      if (answers.length < 2 || !place) return;
      write(place, interpolate(gettext("Answer %(n)s of %(all)s"), { n: at + 1, all: answers.length }, true));
      place.hidden = false;
    });
  }
}

function write(place, words) {
  if (place.textContent !== words) place.textContent = words;
}

/** Who comes back to a talk that goes on reads on where it stopped. */
function showEnd() {
  const floor = innerHeight - document.getElementById("composer-place").offsetHeight;
  const hidden = transcript.getBoundingClientRect().bottom - floor;
  if (hidden > 0) scrollBy({ top: hidden, behavior: "instant" });
}

/* ---------- Figures ---------- */

async function fetchFigures() {
  const figures = document.getElementById("figures");
  try {
    const answer = await fetch(figures.dataset.address, { redirect: "error", cache: "no-store" });
    if (!answer.ok) return;
    const template = document.createElement("template");
    template.innerHTML = await answer.text();
    figures.replaceWith(template.content.querySelector("#figures"));
    fillConfidences();
  } catch {
    // the network is away; the next message asks again
  }
}

function fillConfidences() {
  for (const one of document.querySelectorAll("[data-confidences] > [data-of]")) {
    const fold = transcript.querySelector(`[data-tokens-of="${one.dataset.of}"]`);
    if (fold) write(fold.querySelector("[data-confidence]"), one.textContent);
  }
}

/* ---------- Room ---------- */

/** Scrolling to something leaves it visible above the composer. */
function keepRoomForComposer() {
  const place = document.getElementById("composer-place");
  if (!place) return;
  const measure = () => document.documentElement.style.setProperty("--floor", `${place.offsetHeight}px`);
  new ResizeObserver(measure).observe(place);
}
