/** While a file is read: asks how far it is, and shows the page anew when that is over. */
const QUICK = 700;
const SLOW = 5000;

let pause = QUICK;

const isUnfinished = (part) => Boolean(part?.matches("[data-unfinished]") || part?.querySelector("[data-unfinished]"));

async function look() {
  const shown = document.getElementById("reading");
  if (!isUnfinished(shown)) return;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    const fresh = response.ok ? new DOMParser().parseFromString(await response.text(), "text/html").getElementById("reading") : null;
    if (!isUnfinished(fresh)) {
      location.reload();
      return;
    }
    if (fresh.innerHTML !== shown.innerHTML) shown.replaceChildren(...fresh.childNodes);
  } catch {
    pause = SLOW; // the server is away; the file is read all the same
  }
  setTimeout(look, pause);
  pause = Math.min(SLOW, pause * 1.15);
}

setTimeout(look, pause);
