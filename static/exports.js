/** The page of a file that is being made: asks how far it is until it is done, then saves it. */
const QUICK = 700;
const SLOW = 5000;

let pause = QUICK;

async function look() {
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (response.redirected || response.status === 404) {
      location.reload();
      return;
    }
    if (response.ok) {
      show(new DOMParser().parseFromString(await response.text(), "text/html").getElementById("file"));
    }
  } catch {
    pause = SLOW; // the server is away; the file is made all the same
  }
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
