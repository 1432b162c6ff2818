/** The set-up form: shows what applies, and says what folded settings are set to. */
import { startEstimate } from "./estimate.js";
import { startPlanning } from "./planned.js";
import { keepUpToDate, sayChoices, sayLengths, showBadges, showWhatApplies, submitOnce } from "./setup-form.js";

const form = document.getElementById("setup");
const field = (name) => form.elements.namedItem(name);
const TURNS = "5";

function isOn(name) {
  return field(name).checked;
}

/** Only the chosen prompts, and only the models of tools that are switched on. */
function showParts() {
  const prompting = field("prompting").value;
  for (const part of form.querySelectorAll("[data-when]")) part.hidden = part.dataset.when !== prompting;
  showWhatApplies(form);
  field("max_turns").disabled = isOn("max_turns-none");
}

function sayWhatIsSet() {
  sayChoices(form);
  sayLengths(form);
  for (const place of form.querySelectorAll("[data-switch-of]")) {
    place.textContent = isOn(place.dataset.switchOf) ? gettext("yes") : gettext("no");
  }
  for (const place of form.querySelectorAll("[data-choice-of]")) {
    place.textContent = field(place.dataset.choiceOf).selectedOptions[0].text;
  }
  for (const select of form.querySelectorAll("select")) showBadges(select);
}

/** Somebody who leads the talk turn by turn also ends it: there is no last turn unless one is asked for. */
function modeChanged(event) {
  if (event.target.name !== "mode") return;
  const none = field("max_turns-none");
  none.checked = field("mode").value === "manual";
  if (!none.checked && !field("max_turns").value) field("max_turns").value = TURNS;
}

function update() {
  showParts();
  sayWhatIsSet();
}

form.addEventListener("change", modeChanged);
for (const part of form.querySelectorAll(".needs-script")) part.hidden = false;
startPlanning(form.querySelector("[data-rows]"));
startEstimate(form, document.getElementById("estimate"));
submitOnce(form);
keepUpToDate(form, update);
