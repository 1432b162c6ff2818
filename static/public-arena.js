/** A battle of the public arena: both answers as they come, then the vote. */
import { fetchText } from "./requests.js";

const SOON = 700, LATEST = 4000; // milliseconds until the next look, while an answer grows and at most
const OPENING = 10000; // a proxy that swallows the handshake neither opens nor closes
const SLOWER = 1.5; // times as long after a look that found nothing new
const battle = document.getElementById("arena-battle");
const sides = [...battle.querySelectorAll("[data-answer]")];
let pause = SOON, last = "", hasEnded = false;

function listen() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  try {
    const socket = new WebSocket(`${scheme}://${location.host}${battle.dataset.live}`);
    const patience = setTimeout(() => socket.close(), OPENING);
    socket.onopen = () => clearTimeout(patience);
    socket.onmessage = (message) => take(message.data);
    socket.onclose = look; // it never opened, or was cut off
  } catch {
    look(); // forbidden by the browser or an extension
  }
}

/** Where no WebSocket gets through, the page asks. */
async function look() {
  if (hasEnded) return;
  const found = await fetchText(battle.dataset.news);
  const isNew = found?.answer.ok && found.text !== last;
  pause = isNew ? SOON : Math.min(LATEST, pause * SLOWER);
  if (isNew) take(found.text);
  if (!hasEnded) setTimeout(lookWhenSeen, pause);
}

function take(text) {
  last = text;
  const news = JSON.parse(text);
  news.sides.forEach(show);
  if (news.state === "answering") return;
  hasEnded = true;
  if (news.state === "failed") location.reload();
  else openVote();
}

/** A page in the background asks for nothing until it is in front again. */
function lookWhenSeen() {
  if (document.hidden) document.addEventListener("visibilitychange", lookWhenSeen, { once: true });
  else look();
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

listen();
