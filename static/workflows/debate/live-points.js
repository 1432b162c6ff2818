/** Points while they are being written: the raw answer stays hidden, its texts are shown as they grow. */
import { readable } from "./partial.js";

export function startLivePoints(transcript) {
  const shown = new WeakMap(); // how much of an answer was read
  new MutationObserver(() => {
    for (const message of transcript.querySelectorAll("[data-live]")) {
      const answer = message.querySelector("[data-text]").textContent;
      if (shown.get(message) === answer.length) continue;
      shown.set(message, answer.length);
      show(message.querySelector("[data-points]"), readable(answer));
    }
  }).observe(transcript, { subtree: true, childList: true, characterData: true });
}

function show(place, texts) {
  const lines = [...place.querySelectorAll("p")];
  texts.forEach(({ section, text }, number) => {
    const line = lines[number] ?? place.appendChild(begun(place, section));
    if (line.textContent !== text) line.textContent = text;
  });
  for (const line of lines.slice(texts.length)) line.remove();
}

/** A new line; before the first one of a section, its heading. */
function begun(place, section) {
  const words = heading(section);
  if (words && place.dataset.section !== section) {
    const title = document.createElement("h5");
    title.textContent = words;
    place.append(title);
  }
  place.dataset.section = section;
  return document.createElement("p");
}

function heading(section) {
  const headings = {
    objective: gettext("Objective"),
    context: gettext("Context"),
    preferences: gettext("Preferences"),
    missing: gettext("Missing"),
    clarifying_questions: gettext("Questions"),
    new_perspectives: gettext("New perspectives"),
    counterpoints: gettext("Counterpoints"),
    recommended: gettext("Recommended"),
    discouraged: gettext("Discouraged"),
  };
  return headings[section] ?? "";
}
