/** What is typed at a pause is kept on the server, so that it is there in another browser, too. */
import { Draft } from "../../drafts.js";
import { trouble } from "../../requests.js";

const REST = 600; // ms after the last key
const AGAIN = 4000; // ms until a text that could not be kept is sent again

export class ServerDrafts {
  #timers = new WeakMap();
  #isLeaving = false; // the next page may have been asked for before the server had the last words

  constructor(page) {
    this.page = page;
    this.token = document.querySelector("#say-form [name=csrfmiddlewaretoken]")?.value;
    for (const field of this.#fields()) this.adopt(field);
    page.addEventListener("input", ({ target }) => target.matches("[data-draft]") && this.#soon(target, REST));
    addEventListener("beforeunload", () => (this.#isLeaving = true));
    addEventListener("pagehide", () => this.flush());
    this.#holdBackSwitches();
  }

  /** What the server has shown is what it has. */
  adopt(field) {
    field.dataset.saved = field.defaultValue;
    if (field.value !== field.defaultValue) this.#soon(field, 0);
  }

  /** Resolves when everything typed has been sent. */
  flush() {
    return Promise.all(this.#unsaved().map((field) => this.#save(field)));
  }

  get hasUnsaved() {
    return this.#unsaved().length > 0;
  }

  /** Changing the language or the theme loads the page again: it shall find there what was typed. */
  #holdBackSwitches() {
    for (const form of document.querySelectorAll("form.switch")) {
      form.addEventListener("submit", async (event) => {
        if (!this.hasUnsaved || "heldBack" in form.dataset) return;
        event.preventDefault();
        form.dataset.heldBack = "";
        await this.flush();
        form.requestSubmit(event.submitter);
        delete form.dataset.heldBack;
      });
    }
  }

  #fields() {
    return [...this.page.querySelectorAll("[data-draft]")];
  }

  #unsaved() {
    return this.#fields().filter((field) => field.value !== field.dataset.saved);
  }

  #soon(field, pause) {
    clearTimeout(this.#timers.get(field));
    this.#timers.set(field, setTimeout(() => this.#save(field), pause));
  }

  async #save(field) {
    const key = field.closest("[data-key]")?.dataset.key;
    if (!key || !field.isConnected || !this.token) return;
    const text = field.value;
    const body = new URLSearchParams({ key, text, csrfmiddlewaretoken: this.token });
    const answer = await post(this.page.dataset.draft, body);
    if (answer.status === 204) {
      field.dataset.saved = text;
      if (field.value === text && !this.#isLeaving) new Draft(this.page.dataset.run, key).clear();
    }
    this.#tell(field, answer);
    if (answer.status === 0) this.#soon(field, AGAIN);
  }

  #tell(field, answer) {
    const place = field.parentElement.querySelector("[data-saved-note]");
    const words = answer.status === 204 ? gettext("The draft is saved.") : `${gettext("The draft is not saved:")} ${trouble(answer)}`;
    if (place && place.textContent !== words) place.textContent = words;
    place?.classList.toggle("unscored", answer.status !== 204);
  }
}

async function post(address, body) {
  try {
    const options = { method: "POST", body, headers: { Accept: "application/json" }, redirect: "manual" };
    const answer = await fetch(address, { ...options, keepalive: body.toString().length < 60_000 });
    if (answer.type === "opaqueredirect") return { status: 401 };
    const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
    return { status: answer.status, ...(isJson ? await answer.json() : {}) };
  } catch {
    return { status: 0 };
  }
}
