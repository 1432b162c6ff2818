/** The page of a file that is being made: asks how far it is until it is done, then saves it. */
import { fetchText } from "./asking.js";

const QUICK = 700;
const SLOW = 5000;

let pause = QUICK;

async function look() {
  const found = await fetchText(location.href, { headers: { Accept: "text/html" } });
  if (found?.answer.redirected || found?.answer.status === 404) {
    location.reload();
    return;
  }
  if (found?.answer.ok) show(new DOMParser().parseFromString(found.text, "text/html").getElementById("file"));
  if (!found) pause = SLOW; // the server is away; the file is made all the same
  if (!isOver()) {
    setTimeout(look, pause);
    pause = Math.min(SLOW, pause * 1.15);
  }
}

function show(fresh) {
  const shown = document.getElementById("file");
  if (!fresh || fresh.innerHTML === shown.innerHTML) {
    return;
  }
  shown.dataset.state = fresh.dataset.state;
  shown.replaceChildren(...fresh.childNodes);
  const download = document.getElementById("download");
  if (download) {
    document.getElementById("announcer").textContent = gettext("The file is ready.");
    location.assign(download.href);
  }
}

function isOver() {
  return ["done", "failed"].includes(document.getElementById("file").dataset.state);
}

setTimeout(look, pause);
