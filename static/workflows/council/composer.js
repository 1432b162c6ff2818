/** Where the next question is written: Enter sends, also while the council is at work; a draft outlives a reload. */
import { KeptText, say } from "../../drafts.js";
import { notify, send, trouble } from "../../requests.js";

export class CouncilComposer {
  #isBusy = false;

  constructor(page) {
    this.page = page;
    this.form = document.getElementById("composer");
    this.text = document.getElementById("composer-text");
    this.state = document.getElementById("composer-state");
    this.queued = document.getElementById("queued");
    this.form.addEventListener("submit", (event) => this.#submit(event));
    const problem = document.getElementById("composer-problem");
    this.kept = new KeptText(this.text, problem, `arena.draft.${this.form.dataset.run}`, () => this.#enter());
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
    say(this.state, this.#words());
    this.form.toggleAttribute("data-busy", !this.offer && !this.isClosed);
    this.text.disabled = this.isClosed;
    this.form.querySelector("button[value=send]").disabled = this.isClosed;
  }

  #words() {
    if (this.isClosed) return gettext("The council is closed. Branch from a message to continue from there, or run it again.");
    if (this.offer) return gettext("Your turn. The council knows the earlier questions and conclusions.");
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

  #enter() {
    this.form.requestSubmit(this.form.querySelector("button[value=send]"));
  }

  async #submit(event) {
    event.preventDefault();
    const button = event.submitter;
    const isQuestion = !button || button.value === "send";
    if (this.#isBusy || (isQuestion && this.kept.isEmpty)) return;
    this.#isBusy = true;
    const words = trouble(await send(this.form, button));
    this.#isBusy = false;
    if (!isQuestion && words) notify(words);
    else if (isQuestion) this.kept.tell(words);
    if (isQuestion && !words) this.kept.clear();
  }
}
