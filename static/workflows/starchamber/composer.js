/** Where the researcher writes: Enter sends, a draft outlives a reload, and what was refused is still there. */
import { ask } from "../../confirm.js";
import { KeptText, say } from "../../drafts.js";

export class Composer {
  #sent = ""; // the pause that was answered from here: it is over, although the page has not heard of it yet
  #hadFocus = false;

  constructor(page) {
    this.page = page;
    this.form = document.getElementById("composer");
    this.text = document.getElementById("composer-text");
    this.state = document.getElementById("composer-state");
    this.slot = document.getElementById("slot-turn");
    const problem = document.getElementById("composer-problem");
    this.kept = new KeptText(this.text, problem, `arena.draft.${this.form.dataset.run}`, () => this.#enter());
    this.form.addEventListener("submit", (event) => this.#submit(event));
    new MutationObserver(() => this.show()).observe(this.slot, { childList: true });
    new MutationObserver(() => this.show()).observe(page, { attributes: true, attributeFilter: ["data-over"] });
    const status = document.getElementById("status");
    new MutationObserver(() => this.show()).observe(status, { attributes: true, attributeFilter: ["data-state"] });
    this.show();
  }

  get pause() {
    const pause = this.isOver ? null : document.getElementById("waiting");
    return pause && pause.dataset.key !== this.#sent ? pause : null;
  }

  get isOver() {
    return "over" in this.page.dataset;
  }

  /** Something was said at a pause, here or elsewhere. */
  said(key) {
    const pause = document.getElementById("waiting");
    if (pause?.dataset.key === key) pause.remove();
  }

  /** The state of the talk in words, and the buttons that it offers. */
  show() {
    const { pause } = this;
    const offered = pause ? pause.dataset.actions.split(" ") : [];
    this.form.elements.key.value = pause?.dataset.key ?? "";
    this.#enable(Boolean(pause));
    for (const button of this.form.querySelectorAll("button[name=action]")) {
      const isAlways = button.value === "send" || button.value === "end";
      button.disabled = !offered.includes(button.value);
      button.hidden = this.isOver || (!isAlways && button.disabled);
    }
    this.form.toggleAttribute("data-busy", !pause && !this.isOver);
    say(this.state, this.#words(pause));
  }

  #words(pause) {
    if (this.isOver) return gettext("The run has ended. Branch from any message to continue from there.");
    if (pause?.dataset.reason === "answer_failed") return gettext("Your turn: the last message got no answer.");
    if (pause) return gettext("Your turn.");
    const { state } = document.getElementById("status").dataset;
    if (state === "stopping") return gettext("The run is being stopped…");
    if (document.querySelector("#run-batch:not([hidden])")) return gettext("The model answers in a batch.");
    if (state === "waiting" && !this.#sent) return gettext("The run is paused. Press “Continue” in the status bar to continue.");
    if (state === "queued" && !this.#sent) return gettext("Waiting for a free worker…");
    return gettext("The model is answering…");
  }

  #enable(isOn) {
    if (this.text.disabled !== isOn) return;
    if (!isOn) this.#hadFocus ||= document.activeElement === this.text;
    this.text.disabled = !isOn;
    const isFree = !document.activeElement || document.activeElement === document.body;
    if (isOn && this.#hadFocus && isFree) this.text.focus({ preventScroll: true });
    if (isOn) this.#hadFocus = false;
  }

  #enter() {
    const send = this.form.querySelector("button[value=send]");
    if (send && !send.disabled) this.form.requestSubmit(send);
  }

  async #submit(event) {
    event.preventDefault();
    const action = event.submitter?.value ?? "send";
    const key = this.pause?.dataset.key;
    if (!key) return;
    if (action === "send" && this.kept.isEmpty) {
      this.text.focus();
      return;
    }
    if (action === "end" && !(await ask(document.getElementById("end-dialog")))) return;
    const body = new FormData(this.form, event.submitter);
    this.#hadFocus = this.form.contains(document.activeElement);
    this.#sent = key;
    this.kept.tell("");
    this.show();
    const refusal = await send(this.form.getAttribute("action"), body); // `form.action` is the buttons of that name
    if (refusal === null) {
      if (action === "send") this.kept.clear();
      return;
    }
    this.#sent = "";
    this.kept.tell(refusal);
    this.show();
  }
}

/** null when it was taken, otherwise why not. */
async function send(address, body) {
  try {
    const answer = await fetch(address, { method: "POST", body, headers: { Accept: "application/json" }, redirect: "manual" });
    if (answer.ok) return null;
    if (answer.type === "opaqueredirect") return gettext("You are signed out. Sign in in another tab, then try again. What you typed is kept.");
    const said = await answer.json().catch(() => ({}));
    return said.problem || gettext("The server refused it.");
  } catch {
    return gettext("The server could not be reached. Nothing was sent. Try again.");
  }
}
