/** The status bar: fetched again after durable events, ticking in between. Also the connection and the tab's title. */
import { fetchText } from "./requests.js";

const DEBOUNCE = 300;

export class StatusBar {
  #timer = null;
  #isBusy = false;
  #isAsked = false;
  #read = performance.now();
  #turn = 0;

  constructor(page) {
    this.page = page;
    this.bar = document.getElementById("status");
    const turns = [...document.querySelectorAll("#transcript .turn")];
    this.#turn = Number(turns.at(-1)?.dataset.turn ?? 0);
    this.#title();
    // Once the run is over the switch is gone. Its row stays, so that nothing below moves.
    if (document.querySelector(".mode-switch")) document.documentElement.classList.add("has-mode");
    setInterval(() => this.#tick(), 1000);
  }

  get isOver() {
    return "over" in this.bar.dataset;
  }

  /** Soon, once, and never twice at a time. */
  refresh() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fetch(), DEBOUNCE);
  }

  turn(turn) {
    this.#turn = turn;
    this.#title();
  }

  connection(state) {
    this.state = state;
    const shown = this.isOver && state !== "signed-out" ? "ended" : state;
    for (const place of document.querySelectorAll(".connection")) place.dataset.connection = shown;
  }

  async #fetch() {
    if (this.#isBusy) {
      this.#isAsked = true;
      return;
    }
    this.#isBusy = true;
    try {
      const found = await fetchText(this.page.dataset.status, { redirect: "error" });
      if (found?.answer.ok) this.#show(found.text); // else the next event or the next connection fetches again
    } finally {
      this.#isBusy = false;
      if (this.#isAsked) {
        this.#isAsked = false;
        this.refresh();
      }
    }
  }

  #show(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    const fresh = template.content.querySelector("#status");
    if (!fresh) return;
    this.#read = performance.now();
    this.#copyData(fresh);
    for (const part of template.content.querySelectorAll("[data-part]")) this.#showPart(part);
    this.page.toggleAttribute("data-over", this.isOver);
    this.connection(this.state);
    this.#tick();
    this.#title();
  }

  #copyData(fresh) {
    for (const name of Object.keys(this.bar.dataset)) if (!(name in fresh.dataset)) delete this.bar.dataset[name];
    Object.assign(this.bar.dataset, fresh.dataset);
  }

  /** Actions are forms with tokens that differ each time: they change only when other actions are offered. */
  #showPart(fresh) {
    const part = this.page.querySelector(`[data-part="${fresh.dataset.part}"]`);
    if (!part) return;
    const isSame = "actions" in fresh.dataset ? part.dataset.actions === fresh.dataset.actions : part.innerHTML === fresh.innerHTML;
    if (isSame) return;
    const hadFocus = part.contains(document.activeElement);
    part.replaceWith(fresh);
    if (fresh.hasAttribute("hx-get")) window.htmx?.process(fresh);
    if (hadFocus) (fresh.querySelector("button:not(:disabled), a") ?? this.bar).focus({ preventScroll: true });
  }

  #tick() {
    if (this.isOver || !("ticking" in this.bar.dataset)) return;
    const passed = Math.round((performance.now() - this.#read) / 1000);
    this.#write("elapsed", clock(Number(this.bar.dataset.seconds) + passed));
    if (!this.bar.dataset.eta) return;
    const left = Math.max(1, Number(this.bar.dataset.eta) - passed);
    this.#write("eta", `≈ ${clock(left)}`);
  }

  #write(part, text) {
    const place = this.bar.querySelector(`[data-part="${part}"]`);
    if (place.textContent !== text) place.textContent = text;
  }

  #title() {
    const { title } = this.page.dataset;
    if (this.isOver) {
      document.title = title;
      return;
    }
    if ("shard" in this.page.dataset) {
      document.title = `▶ ${title}`;
      return;
    }
    const { turns } = this.bar.dataset;
    const names = { turn: turns ? Math.min(this.#turn, turns) : this.#turn, turns, title }; // void cycles are numbered, too
    const isContest = "cycles" in this.page.dataset;
    const ofMany = isContest ? gettext("▶ Cycle %(turn)s/%(turns)s · %(title)s") : gettext("▶ Turn %(turn)s/%(turns)s · %(title)s");
    const words = names.turns ? ofMany : gettext("▶ Turn %(turn)s · %(title)s");
    document.title = names.turn ? interpolate(words, names, true) : `▶ ${title}`;
  }
}

function clock(seconds) {
  const two = (n) => String(n).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return hours ? `${hours}:${two(minutes % 60)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
