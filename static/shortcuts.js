/** Single keys: `?` lists them, `/` searches, `j k` move, `o` opens, `s` stops, `g` follows, `t` goes to a turn, `f` reads in full screen. They can be switched off. */
import { isOn, setOn } from "./preferences.js";

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
