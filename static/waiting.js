/** The panel of a pause: what the run waits for, an editor of the prompt, and what may be said. Each word is said once. */
import { ask } from "./confirm.js";
import { Draft } from "./drafts.js";
import { send, trouble } from "./requests.js";

const KEEPS = ["friend", "note", "alter", "retry"]; // after these the run waits here again
const TOKEN = 4; // characters, roughly
const KEPT = "kept"; // in the place of a pause: texts that were not said at any

export class Waiting {
  #form = document.getElementById("say-form");
  #notice = document.getElementById("waiting-notice");
  #slot = document.getElementById("slot-waiting");
  #isBusy = false;
  #mine = new Set(); // pauses that this tab has answered, or may have: the answer to the answer was lost
  #given = new WeakMap(); // what a field was filled with, and is no draft

  constructor(page) {
    this.run = page.dataset.run;
    this.#slot.addEventListener("input", () => this.#typed());
    this.#slot.addEventListener("click", (event) => event.target.closest("[data-reset]") && this.#reset());
    this.#slot.addEventListener("toggle", (event) => this.#unfolded(event.target), true);
    this.#form?.addEventListener("submit", (event) => this.#submit(event));
    addEventListener("beforeunload", (event) => this.#isUnsaved() && event.preventDefault());
    new ResizeObserver(() => this.#measure()).observe(this.#slot.parentElement);
    this.#keepTexts("", new Draft(this.run, KEPT).read().texts ?? []);
    this.adopt();
  }

  get panel() {
    return document.getElementById("waiting");
  }

  isShowing(key) {
    return this.panel?.dataset.key === key;
  }

  /** A panel has come: what had been typed into it before is typed again. */
  adopt() {
    if (!this.panel) return;
    const texts = this.#draft().read();
    for (const field of this.#fields()) {
      if (texts[field.name] === undefined) continue;
      field.value = texts[field.name];
      field.closest("details.deed")?.setAttribute("open", "");
    }
    this.#show();
  }

  /** Something was said, by this tab or by another. */
  said(data) {
    if (!this.isShowing(data.key)) return;
    const isRival = !this.#mine.has(data.key);
    if (isRival) this.#keep(firstWords(data));
    this.remove();
  }

  /** The run is over: nothing is waited for any more. */
  ended() {
    if (this.panel && !this.#mine.has(this.panel.dataset.key) && this.#isDirty()) {
      this.#keep(gettext("The run has ended; nothing of yours was sent."));
    }
    this.remove();
  }

  remove() {
    const hadFocus = this.#slot.contains(document.activeElement);
    if (this.panel) this.#draft().clear();
    this.#slot.replaceChildren();
    if (hadFocus) document.getElementById("transcript").lastElementChild?.focus({ preventScroll: true });
  }

  #draft() {
    return new Draft(this.run, this.panel.dataset.key);
  }

  #fields() {
    return this.panel ? [...this.panel.querySelectorAll("textarea")] : [];
  }

  #isTyped(field) {
    return field.value !== (this.#given.get(field) ?? offered(field));
  }

  #isDirty() {
    return this.#fields().some((field) => this.#isTyped(field));
  }

  /** Some pages keep what is typed on the server, too. */
  #isUnsaved() {
    return this.#fields().some((field) => this.#isTyped(field) && field.value !== field.dataset.saved);
  }

  #typed() {
    const typed = this.#fields().filter((field) => this.#isTyped(field));
    this.#draft().write(Object.fromEntries(typed.map((field) => [field.name, field.value])));
    this.#show();
  }

  #reset() {
    const editor = this.panel.querySelector("#pause-text");
    editor.value = offered(editor);
    this.#typed();
    editor.focus();
  }

  /** Says whether the prompt is still the default, and how long it is. */
  #show() {
    const editor = this.panel.querySelector("#pause-text");
    if (!editor) return;
    const isChanged = this.#isTyped(editor);
    this.panel.querySelector("[data-changed]").hidden = !isChanged;
    this.panel.querySelector("[data-reset]").hidden = !isChanged;
    this.panel.querySelector("[data-counts]").textContent = counted(editor, isChanged);
  }

  /** What is to be altered is what this side would have read. */
  async #unfolded(fold) {
    const field = fold.open ? fold.querySelector("textarea") : null;
    if (!field || !fold.dataset.heardOf || field.value) return;
    const said = [...document.querySelectorAll(`#transcript .message[data-seat="${fold.dataset.heardOf}"]:not(.superseded)`)].at(-1);
    fold.querySelector("button").disabled = !said;
    if (!said) {
      field.placeholder = gettext("The other side has said nothing yet.");
      return;
    }
    const answer = await fetch(`/messages/${said.dataset.message}/text/?heard=1`).catch(() => null);
    if (!answer?.ok || answer.redirected || field.value) return; // signed out, it is the page on which one signs in
    field.value = await answer.text();
    this.#given.set(field, field.value);
  }

  async #submit(event) {
    event.preventDefault();
    const button = event.submitter;
    if (this.#isBusy || !this.panel) return;
    this.#isBusy = true;
    try {
      if (!("asks" in button.dataset) || (await ask(document.getElementById("end-dialog")))) await this.#say(button);
    } finally {
      this.#isBusy = false;
    }
  }

  async #say(button) {
    const { key } = this.panel.dataset;
    this.#mine.add(key);
    const answering = send(this.#form, button);
    this.#enable(false);
    const answer = await answering;
    if (answer.status >= 400) this.#mine.delete(key);
    if (!this.isShowing(key)) return;
    if (answer.status === 200) this.#done(button.value);
    else if (answer.said) this.#lost(answer.said);
    else this.#refused(trouble(answer));
  }

  #done(action) {
    if (!this.#notice.querySelector(".kept")) this.#notice.replaceChildren();
    if (KEEPS.includes(action)) this.#keep("", action);
    this.remove();
  }

  #lost(said) {
    this.#keep(firstWords(said));
    this.remove();
  }

  #refused(words) {
    this.#notice.replaceChildren(paragraph(words));
    this.#enable(true);
  }

  #enable(isOn) {
    for (const button of this.panel?.querySelectorAll("button") ?? []) button.disabled = !isOn;
  }

  /** A sentence, and every text that would be lost otherwise. */
  #keep(words, said = "") {
    const fields = this.#fields().filter((field) => this.#isTyped(field) && field.name !== `text-${said}`);
    this.#keepTexts(words, fields.map((field) => field.value));
  }

  /** Kept until the notice is closed, also when the page is loaded again. */
  #keepTexts(words, texts) {
    if (!words && !texts.length) return;
    new Draft(this.run, KEPT).write(texts.length ? { texts } : {});
    const parts = texts.map((text) => kept(text, () => this.#putBack(text)));
    this.#notice.replaceChildren(...(words ? [paragraph(words)] : []), ...parts, this.#closing());
  }

  #putBack(text) {
    const editor = this.panel?.querySelector("#pause-text");
    if (!editor) return;
    editor.value = text;
    this.#typed();
    editor.focus();
  }

  #closing() {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button small";
    button.textContent = gettext("Close this notice");
    button.addEventListener("click", () => {
      this.#notice.replaceChildren();
      new Draft(this.run, KEPT).clear();
      (this.panel ?? document.getElementById("transcript").lastElementChild)?.focus({ preventScroll: true });
    });
    return button;
  }

  /** Scrolling to something leaves it visible above the panel. */
  #measure() {
    document.documentElement.style.setProperty("--floor", `${this.#slot.parentElement.offsetHeight}px`);
  }
}

/** What the run offers to be sent; a field may show a draft in its place. */
function offered(field) {
  return field.dataset.default ?? field.defaultValue;
}

function counted(editor, isChanged) {
  const { length } = editor.value;
  const size = interpolate(
    ngettext("%(n)s character, about %(tokens)s tokens", "%(n)s characters, about %(tokens)s tokens", length),
    { n: length.toLocaleString("en"), tokens: Math.ceil(length / TOKEN).toLocaleString("en") },
    true,
  );
  if (!isChanged) return size;
  const { added, removed } = difference(offered(editor), editor.value);
  return `${size} · ${interpolate(gettext("+%(added)s −%(removed)s words"), { added, removed }, true)}`;
}

function firstWords(said) {
  const sentences = {
    send: gettext("%(by)s sent a prompt first."),
    default: gettext("%(by)s sent the default first."),
    skip: gettext("%(by)s skipped this side first."),
    next: gettext("%(by)s started the next turn first."),
    end: gettext("%(by)s ended the run first."),
    friend: gettext("%(by)s had a friend asked first."),
    note: gettext("%(by)s gave a private note first."),
    alter: gettext("%(by)s altered what this side reads first."),
  };
  const words = sentences[said.action] ?? gettext("%(by)s said something else first.");
  return `${interpolate(words, said, true)} ${gettext("The run continues with that; nothing of yours was sent.")}`;
}

function paragraph(words) {
  const line = document.createElement("p");
  line.textContent = words;
  return line;
}

/** A text that was typed, to be read, copied or put back. */
function kept(words, putBack) {
  const fold = document.createElement("details");
  fold.className = "fold";
  const head = document.createElement("summary");
  head.textContent = gettext("Your text is kept");
  const text = document.createElement("div");
  text.className = "plain kept";
  text.textContent = words;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small";
  button.textContent = gettext("Insert into the prompt");
  button.addEventListener("click", putBack);
  fold.append(head, text, button);
  return fold;
}

/** How two texts differ, in numbers: words that are in only one of the two, between the first and the last place where they differ. */
export function difference(before, after) {
  const [left, right] = [before, after].map((text) => text.split(/\s+/));
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  const room = Math.min(left.length, right.length) - start;
  while (end < room && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  return { removed: left.length - start - end, added: right.length - start - end };
}
