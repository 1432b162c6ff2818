/** Voting by keyboard: 1 to 4 cast the vote, n goes to the next pair. A vote that is under way is not sent twice. */
import { isOn } from "./preferences.js";

const KEYS = { 1: "first", 2: "second", 3: "tie", 4: "both_bad" };
const ballot = document.getElementById("ballot");

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat || !isOn("keys")) return;
  if (event.target.closest("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]")) return;
  const button = ballot?.querySelector(`[value="${KEYS[event.key]}"]`) ?? (event.key === "n" ? document.getElementById("next-pair") : null);
  if (!button) return;
  event.preventDefault();
  button.click();
});

ballot?.addEventListener("submit", (event) => {
  if (ballot.dataset.sent) event.preventDefault();
  ballot.dataset.sent = "true";
});

// Back from the next page to a form that was sent: it may be sent again, and the answer is the same.
addEventListener("pageshow", () => delete ballot?.dataset.sent);
