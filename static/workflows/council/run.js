/** The page of a council: panels become tabs, the ranking is fetched when it has been counted, and questions are asked on. */
import { CouncilComposer } from "./composer.js";
import { startPanels } from "./panels.js";

const SOON = 250; // ms in which several events make one request
const page = document.getElementById("run");
const transcript = document.getElementById("transcript");
const composer = document.getElementById("composer") ? new CouncilComposer(page) : null;
let timer = null;

page.addEventListener("news", ({ detail }) => {
  if (detail.type === "said") composer?.said(detail.data);
  if (detail.type === "turn_started") composer?.begun();
  if (detail.type === "titled") retitle(detail.data.title);
  clearTimeout(timer);
  timer = setTimeout(fetchRankings, SOON);
});
startPanels(transcript, document.getElementById("tab-signs"));
fetchRankings();
keepRoomForComposer();

/** A count that was pushed comes without its figures. */
async function fetchRankings() {
  for (const part of transcript.querySelectorAll(".ranking-part[data-missing]")) {
    const answer = await fetch(part.dataset.address, { redirect: "error", cache: "no-store" }).catch(() => null);
    if (!answer?.ok) continue; // the network is away; the next event asks again
    part.innerHTML = await answer.text();
    delete part.dataset.missing;
  }
}

/** A title that was found beside the first answers. */
function retitle(title) {
  page.dataset.title = title;
  page.querySelector(".run-title").textContent = title;
}

/** Scrolling to something leaves it visible above the composer. */
function keepRoomForComposer() {
  const place = document.getElementById("composer-place");
  if (!place) return;
  const measure = () => document.documentElement.style.setProperty("--floor", `${place.offsetHeight}px`);
  new ResizeObserver(measure).observe(place);
}
