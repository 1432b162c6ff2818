/** What the keyboard does on every page: single keys, and the list of pages, runs and other things that Ctrl+K opens. */
import { isOn, setOn } from "./preferences.js";

/** `?` lists them, `/` searches, `j k` move, `o` opens, `s` stops, `g` follows, `t` goes to a turn, `f` reads in full screen. They can be switched off. */
const ITEMS = "[data-item], #transcript article.message";

export function startShortcuts() {
  const dialog = document.getElementById("shortcuts");
  for (const box of dialog.querySelectorAll("[data-preference]")) {
    box.checked = isOn(box.dataset.preference);
    box.addEventListener("change", () => setOn(box.dataset.preference, box.checked));
  }
  const button = document.getElementById("show-shortcuts");
  button.disabled = false;
  button.addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape" && !document.documentElement.hasAttribute("data-reading")) document.getElementById("stop-button")?.focus();
    const action = ACTIONS[event.key];
    if (action && (event.key === "?" || isOn("keys")) && action(dialog)) event.preventDefault();
  });
}

/** Each returns whether it did anything. */
const ACTIONS = {
  "?": (dialog) => {
    dialog.showModal();
    return true;
  },
  "/": () => focus(document.querySelector("input[type=search]")),
  j: () => move(1),
  k: () => move(-1),
  o: () => open(document.activeElement?.closest(ITEMS)),
  s: () => press(document.getElementById("stop-button")),
  g: () => press(document.getElementById("follow")),
  t: () => focus(document.getElementById("jump")),
  f: () => press(shown("#leave-reading") ?? shown("#enter-reading")),
  e: () => focus(shown("#pause-text")),
};

function isTyping(element) {
  return element.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]") !== null;
}

function focus(element) {
  element?.focus();
  return Boolean(element);
}

function shown(selector) {
  const element = document.querySelector(selector);
  return element?.checkVisibility() ? element : null;
}

function press(button) {
  if (!button || button.disabled) return false;
  button.click();
  return true;
}

function move(step) {
  const items = [...document.querySelectorAll(ITEMS)].filter((item) => item.checkVisibility());
  const current = document.activeElement?.closest(ITEMS);
  const place = current ? items.indexOf(current) + step : nearest(items);
  const item = items[Math.max(0, Math.min(items.length - 1, place))];
  if (!item) return press(document.querySelector(step > 0 ? "a[rel=next]" : "a[rel=prev]"));
  item.tabIndex = -1;
  item.focus({ preventScroll: true });
  item.scrollIntoView({ block: "nearest" });
  return true;
}

/** The first item that the reader can see. */
function nearest(items) {
  const place = items.findIndex((item) => item.getBoundingClientRect().bottom > innerHeight / 3);
  return place < 0 ? items.length - 1 : place;
}

function open(item) {
  return press(item?.matches("a") ? item : item?.querySelector("[data-open], .call-link"));
}

/** Ctrl+K: pages, runs and other things by their names. A combobox whose list the server fills; arrows choose, Enter opens. */
const WAIT = 120; // milliseconds after the last key

export function startPalette() {
  const dialog = document.getElementById("palette");
  if (!dialog) return;
  const palette = new Palette(dialog);
  const button = document.getElementById("open-palette");
  button.disabled = false;
  button.addEventListener("click", () => palette.open());
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (!document.querySelector("dialog[open]")) palette.open();
  });
}

class Palette {
  #timer = 0;
  #asked = 0;

  constructor(dialog) {
    this.dialog = dialog;
    this.input = dialog.querySelector("input");
    this.list = dialog.querySelector("[role=listbox]");
    this.status = dialog.querySelector("[role=status]");
    this.input.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#fill(), WAIT);
    });
    this.input.addEventListener("keydown", (event) => this.#key(event));
    this.list.addEventListener("click", (event) => this.#go(event.target.closest("[role=option]")));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }

  open() {
    this.dialog.showModal();
    this.input.select();
    this.#fill();
  }

  async #fill() {
    const asked = ++this.#asked;
    const groups = await found(`${this.dialog.dataset.address}?q=${encodeURIComponent(this.input.value)}`);
    if (asked !== this.#asked) return; // a later question is under way
    this.list.replaceChildren(...(groups ?? []).map(group));
    this.list.querySelectorAll("[role=option]").forEach((option, number) => (option.id = `palette-${number}`));
    const count = this.#options().length;
    if (groups === null) this.status.textContent = gettext("The server does not respond. Try again in a moment.");
    else this.status.textContent = interpolate(ngettext("%s result", "%s results", count), [count]);
    this.#choose(this.#options()[0]);
  }

  #options() {
    return [...this.list.querySelectorAll("[role=option]")];
  }

  #chosen() {
    return this.list.querySelector("[aria-selected=true]");
  }

  #choose(option) {
    this.#chosen()?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) this.input.setAttribute("aria-activedescendant", option.id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing || (!step && event.key !== "Enter")) return;
    event.preventDefault();
    if (!step) return this.#go(this.#chosen());
    const options = this.#options();
    this.#choose(options[(options.indexOf(this.#chosen()) + step + options.length) % options.length]);
  }

  #go(option) {
    if (option) location.assign(option.dataset.address);
  }
}

/** null when nothing answers. */
async function found(address) {
  try {
    const answer = await fetch(address, { headers: { Accept: "application/json" }, redirect: "error" });
    return answer.ok ? (await answer.json()).groups : null;
  } catch {
    return null;
  }
}

function group({ name, entries }) {
  const element = Object.assign(document.createElement("div"), { role: "group", ariaLabel: name });
  const title = Object.assign(document.createElement("span"), { textContent: name, ariaHidden: "true" });
  element.append(title, ...entries.map(option));
  return element;
}

function option({ name, detail, address }) {
  const element = Object.assign(document.createElement("div"), { role: "option", ariaSelected: "false" });
  element.dataset.address = address;
  element.append(name, Object.assign(document.createElement("span"), { className: "hint", textContent: detail }));
  return element;
}
