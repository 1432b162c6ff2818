/** A battle of the public arena: both answers as they come, then the vote. */
import { fetchText } from "./requests.js";

const SOON = 300, LATER = 2000; // milliseconds until the next look; after one that failed
const battle = document.getElementById("arena-battle");
const sides = [...battle.querySelectorAll("[data-answer]")];

async function look() {
  const found = await fetchText(battle.dataset.news);
  if (!found?.answer.ok) {
    setTimeout(look, LATER);
    return;
  }
  const news = JSON.parse(found.text);
  news.sides.forEach(show);
  if (news.state === "answering") setTimeout(look, SOON);
  else if (news.state === "failed") location.reload();
  else openVote();
}

function show(side, place) {
  const answer = sides[place], body = answer.firstElementChild;
  if (answer.dataset.answer === "ready") return;
  answer.dataset.answer = side.state;
  if (side.state === "ready") {
    body.className = "prose";
    body.innerHTML = side.html; // made of the answer by the server, which lets no markup of the model through
  } else if (side.text) body.textContent = side.text;
}

function openVote() {
  document.getElementById("choices").disabled = false;
  const status = document.getElementById("arena-status");
  status.textContent = status.dataset.ready;
}

look();
