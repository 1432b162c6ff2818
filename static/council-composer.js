/** Where the next question is written: Enter sends, also while the council is at work; a draft outlives a reload. */
import { notify, trouble } from "./notices.js";
import { send } from "./send.js";

export class CouncilComposer {
  #isBusy = false;

  constructor(page) {
    this.page = page;
    this.form = document.getElementById("composer");
    this.text = document.getElementById("composer-text");
    this.state = document.getElementById("composer-state");
    this.problem = document.getElementById("composer-problem");
    this.queued = document.getElementById("queued");
    this.place = `arena.draft.${this.form.dataset.run}`;
    this.form.addEventListener("submit", (event) => this.#submit(event));
    this.#restore();
    this.text.addEventListener("input", () => this.#keep());
    this.text.addEventListener("keydown", (event) => this.#press(event));
    new MutationObserver(() => this.show()).observe(document.getElementById("slot-offer"), { childList: true });
    new MutationObserver(() => this.show()).observe(page, { attributes: true, attributeFilter: ["data-over"] });
    this.show();
  }

  get offer() {
    return document.getElementById("offer");
  }

  /** Stopped or failed: a council that has answered offers to be asked on. */
  get isClosed() {
    return "over" in this.page.dataset && !this.offer;
  }

  /** Something was said, here or elsewhere: a question ahead of its time is listed, and an offer that was taken up is over. */
  said({ key, action, text }) {
    if (this.offer?.dataset.key === key) this.offer.remove();
    else if (action === "send") this.#enqueue(key, text);
    this.show();
  }

  /** The next question is under way: the first of those that were queued. */
  begun() {
    this.queued.firstElementChild?.remove();
    this.queued.hidden = !this.queued.children.length;
  }

  show() {
    this.#say(this.state, this.#words());
    this.form.toggleAttribute("data-busy", !this.offer && !this.isClosed);
    this.text.disabled = this.isClosed;
    this.form.querySelector("button[value=send]").disabled = this.isClosed;
  }

  #words() {
    if (this.isClosed) return gettext("The council is closed: branch from a message to go on from there, or run it again.");
    if (this.offer) return gettext("Your turn: the council knows the questions and conclusions before.");
    return gettext("The council is at work. A question that you send now is queued.");
  }

  #enqueue(key, text) {
    if (this.queued.querySelector(`[data-key="${CSS.escape(key)}"]`)) return;
    const badge = document.createElement("span");
    badge.className = "badge";
    badge.textContent = gettext("queued");
    const line = document.createElement("li");
    line.dataset.key = key;
    line.append(badge, ` ${text}`);
    this.queued.append(line);
    this.queued.hidden = false;
  }

  /** While an input method composes a word, Enter chooses it. */
  #press(event) {
    const isComposing = event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey || isComposing) return;
    event.preventDefault();
    this.form.requestSubmit(this.form.querySelector("button[value=send]"));
  }

  async #submit(event) {
    event.preventDefault();
    const button = event.submitter;
    const isQuestion = !button || button.value === "send";
    if (this.#isBusy || (isQuestion && !this.text.value.trim())) return;
    this.#isBusy = true;
    const words = trouble(await send(this.form, button));
    this.#isBusy = false;
    if (!isQuestion && words) notify(words);
    else if (isQuestion) this.#tell(words);
    if (isQuestion && !words) this.#clear();
  }

  #tell(problem) {
    this.#say(this.problem, problem ? `${problem} ${gettext("What you wrote is still here.")}` : "");
    this.problem.hidden = !problem;
  }

  #say(place, words) {
    if (place.textContent !== words) place.textContent = words;
  }

  #restore() {
    try {
      this.text.value ||= sessionStorage.getItem(this.place) ?? "";
    } catch {
      // storage is blocked: a draft lives as long as the page
    }
  }

  #keep() {
    try {
      sessionStorage.setItem(this.place, this.text.value);
    } catch {
      // as above
    }
  }

  #clear() {
    this.text.value = "";
    this.#keep();
  }
}
