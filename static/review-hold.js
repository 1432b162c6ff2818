/** The item is held while somebody works on it, and given back when they leave; what they fill in is kept on the server. */
import { trouble } from "./requests.js";

const REST = 800; // ms after the last change
const EVERY = 60_000; // ms between two signs of life

export function startHold(page, form) {
  const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
  const note = document.getElementById("draft-note");
  const isAnswered = "answered" in page.dataset;
  let timer = 0;
  let told = 0;
  let isDirty = false;

  const ask = (address, body, keepalive = false) => post(address, body, token, keepalive);

  async function claim() {
    told = Date.now();
    const answer = await ask(page.dataset.claim, new FormData());
    const place = document.getElementById("lost-hold");
    place.hidden = answer.status !== 409;
    if (answer.status === 409) place.textContent = answer.problem;
  }

  async function keep() {
    isDirty = false;
    const answer = await ask(page.dataset.draft, new FormData(form));
    note.textContent = answer.status === 204 ? gettext("The draft is saved.") : `${gettext("The draft is not saved:")} ${trouble(answer)}`;
    note.classList.toggle("unscored", answer.status !== 204);
    if (answer.status === 0) soon(4 * REST);
    else told = Date.now();
  }

  function soon(pause) {
    isDirty = true;
    clearTimeout(timer);
    timer = setTimeout(keep, pause);
  }

  form.addEventListener("input", () => soon(REST));
  if (isAnswered) return;
  for (const sign of ["keydown", "pointerdown", "wheel"]) {
    document.addEventListener(sign, () => Date.now() - told > EVERY && claim(), { passive: true });
  }
  addEventListener("pageshow", claim);
  addEventListener("pagehide", () => {
    clearTimeout(timer);
    if (form.dataset.sent) return;
    ask(page.dataset.release, isDirty ? new FormData(form) : new FormData(), true);
  });
}

async function post(address, body, token, keepalive) {
  body.set("csrfmiddlewaretoken", token);
  try {
    const options = { method: "POST", body: new URLSearchParams(body), headers: { Accept: "application/json" }, redirect: "manual" };
    const answer = await fetch(address, { ...options, keepalive });
    if (answer.type === "opaqueredirect") return { status: 401 };
    const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
    return { status: answer.status, ...(isJson ? await answer.json() : {}) };
  } catch {
    return { status: 0 };
  }
}
