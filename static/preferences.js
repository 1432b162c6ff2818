/** What a person has switched off in this browser: single keys, live text, announcements. All are on at first. */

const PREFIX = "arena.";

export function isOn(name) {
  try {
    return localStorage.getItem(PREFIX + name) !== "off";
  } catch {
    return true; // storage is blocked
  }
}

export function setOn(name, on) {
  try {
    localStorage.setItem(PREFIX + name, on ? "on" : "off");
  } catch {
    // storage is blocked: the choice holds for nothing, and the box says so when the page is loaded again
  }
}
