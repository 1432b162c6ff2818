/** While a file is read: asks how far it is, and shows the page anew when that is over. */
import { fetchText } from "./asking.js";

const QUICK = 700;
const SLOW = 5000;

let pause = QUICK;

const isUnfinished = (part) => Boolean(part?.matches("[data-unfinished]") || part?.querySelector("[data-unfinished]"));

async function look() {
  const shown = document.getElementById("reading");
  if (!isUnfinished(shown)) return;
  const found = await fetchText(location.href, { headers: { Accept: "text/html" } });
  if (found) {
    const fresh = found.answer.ok ? new DOMParser().parseFromString(found.text, "text/html").getElementById("reading") : null;
    if (!isUnfinished(fresh)) {
      location.reload();
      return;
    }
    if (fresh.innerHTML !== shown.innerHTML) shown.replaceChildren(...fresh.childNodes);
  } else {
    pause = SLOW; // the server is away; the file is read all the same
  }
  setTimeout(look, pause);
  pause = Math.min(SLOW, pause * 1.15);
}

setTimeout(look, pause);
