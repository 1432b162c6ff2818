/** The transcript: what comes gets its place, turns are listed, notes stand beside their messages. */
import { isOn } from "./preferences.js";
import { localise } from "./times.js";

/** Puts a fragment instead of an earlier one, instead of live text, or at the end of its slot, above what is still being
 * written: text may come before the event that it belongs to. Returns the element, and
 * whether the transcript had nothing in its place before. */
export function insert(html) {
  const element = parse(html);
  const before = document.getElementById(element.id);
  const live = element.dataset.call ? document.querySelector(`[data-live="${element.dataset.call}"]`) : null;
  localise(element);
  if (before) {
    live?.remove();
    replace(before, element);
  } else if (live) {
    replace(live, element);
  } else {
    const place = slot(element); // null of what the page shows no more, such as a cycle long over
    place?.insertBefore(element, place.querySelector(":scope > [data-live]")); // what is being written comes later
  }
  return { element, isNew: !before && element.closest("#transcript") !== null };
}

export function removeEnding() {
  document.getElementById("ending")?.remove();
}

/** Tells screen readers what is complete; text that is still being written is never announced. */
export function announce({ type, data }) {
  const words = WORDS[type]?.(data);
  if (words && isOn("announce")) document.getElementById("announcer").textContent = words;
}

const WORDS = {
  message_completed: (data) => (data.call ? interpolate(answered(data.seat), data, true) : ""),
  waiting_for_user: () => gettext("The run is waiting for you"),
  judge_evaluation_completed: (data) => interpolate(gettext("Turn %(turn)s is judged"), data, true),
  experiment_stopped: () => gettext("The run has ended"),
  experiment_error: () => gettext("The run has failed"),
};

function answered(seat) {
  if (seat === "model") return gettext("The model has answered, turn %(turn)s");
  return seat.length === 1 ? gettext("Model %(seat)s has answered, turn %(turn)s") : gettext("%(model)s has answered");
}

function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

function slot(element) {
  const name = element.dataset.slot;
  return document.getElementById(name === "transcript" ? name : `slot-${name}`);
}

/** What the reader has unfolded stays so, and the focus stays where it is. */
function replace(before, element) {
  for (const fold of before.querySelectorAll("details[open][data-fold]")) {
    element.querySelector(`details[data-fold="${fold.dataset.fold}"]`)?.setAttribute("open", "");
  }
  const focused = before.contains(document.activeElement) ? document.activeElement : null;
  const path = focused ? pathTo(focused, before) : null;
  before.replaceWith(element);
  if (path) (find(focused, path, element) ?? element).focus({ preventScroll: true });
}

function pathTo(focused, root) {
  const fold = focused.closest("details[data-fold]");
  return { id: focused.id, fold: fold && root.contains(fold) ? fold.dataset.fold : null, tag: focused.tagName, type: focused.className };
}

function find(focused, { id, fold, tag, type }, root) {
  if (id) return document.getElementById(id);
  const within = fold ? root.querySelector(`details[data-fold="${fold}"]`) : root;
  return [...(within?.querySelectorAll(tag) ?? [])].find((one) => (one.getAttribute("class") ?? "") === (focused.getAttribute("class") ?? type));
}

/** The list of turns: choosing one goes there. */
export function startJumping(transcript) {
  const select = document.getElementById("jump");
  const jump = {
    /** A turn has begun. */
    add(turn) {
      if (!select || select.querySelector(`option[value="${turn}"]`)) return;
      select.append(new Option(turn, turn));
    },
  };
  for (const heading of transcript.querySelectorAll(".turn")) jump.add(heading.dataset.turn);
  select?.addEventListener("change", () => {
    const heading = document.getElementById(`turn-${select.value}`);
    select.value = "";
    if (!heading) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    heading.scrollIntoView({ block: "start" });
  });
  return jump;
}

/** Notes and findings on a message stand beside it, too, whenever it is on the page. */
export function startNotes(transcript) {
  const notes = [...document.querySelectorAll(":is(#annotations, #findings) .person-note[data-message]")];
  if (!notes.length || !transcript) return;
  const place = () => {
    for (const note of notes) beside(note);
  };
  place();
  new MutationObserver(place).observe(transcript, { childList: true });
}

function beside(note) {
  const message = document.getElementById(note.dataset.message);
  if (!message || message.querySelector(`[data-note-of="${note.id}"]`)) return;
  const copy = note.cloneNode(true);
  copy.removeAttribute("id");
  copy.removeAttribute("tabindex");
  copy.dataset.noteOf = note.id;
  copy.querySelector(".note-place")?.remove();
  message.append(copy);
}
