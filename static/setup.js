/** The set-up form: shows what applies, and says what folded settings are set to. */
import { startEstimate } from "./estimate.js";
import { startPlanning } from "./planned.js";

const form = document.getElementById("setup");
const field = (name) => form.elements.namedItem(name);
const TURNS = "5";

function isOn(name) {
  return field(name).checked;
}

/** Only the chosen prompts, and only the models of tools that are switched on. */
function showWhatApplies() {
  const prompting = field("prompting").value;
  for (const part of form.querySelectorAll("[data-when]")) part.hidden = part.dataset.when !== prompting;
  for (const part of form.querySelectorAll("[data-needs]")) part.hidden = !isOn(part.dataset.needs);
  for (const part of form.querySelectorAll("[data-in-mode]")) part.hidden = part.dataset.inMode !== field("mode").value;
  field("max_turns").disabled = isOn("max_turns-none");
}

function sayWhatIsSet() {
  for (const place of form.querySelectorAll("[data-of]")) {
    place.textContent = field(place.dataset.of).value.trim() || place.dataset.default;
  }
  for (const place of form.querySelectorAll("[data-length-of]")) {
    const { length } = field(place.dataset.lengthOf).value;
    const words = ngettext("%(n)s character", "%(n)s characters", length);
    place.textContent = length ? interpolate(words, { n: length.toLocaleString("en") }, true) : place.dataset.default;
  }
  for (const place of form.querySelectorAll("[data-switch-of]")) {
    place.textContent = isOn(place.dataset.switchOf) ? gettext("yes") : gettext("no");
  }
  for (const place of form.querySelectorAll("[data-choice-of]")) {
    place.textContent = field(place.dataset.choiceOf).selectedOptions[0].text;
  }
  for (const select of form.querySelectorAll("select")) showBadges(select);
}

function showBadges(select) {
  const option = select.selectedOptions[0];
  const simulated = select.parentNode.querySelector("[data-badge=simulated]");
  const provider = select.parentNode.querySelector("[data-badge=provider]");
  if (!option || !simulated) return;
  simulated.hidden = option.dataset.simulated === undefined;
  provider.hidden = !option.dataset.provider || !simulated.hidden;
  provider.textContent = option.dataset.provider ?? "";
}

/** Somebody who leads the talk turn by turn also ends it: there is no last turn unless one is asked for. */
function modeChanged(event) {
  if (event.target.name !== "mode") return;
  const none = field("max_turns-none");
  none.checked = field("mode").value === "manual";
  if (!none.checked && !field("max_turns").value) field("max_turns").value = TURNS;
}

function update() {
  showWhatApplies();
  sayWhatIsSet();
}

form.addEventListener("change", modeChanged);
form.addEventListener("input", update);
form.addEventListener("change", update);
addEventListener("pageshow", update); // a browser restores fields after "back" without an event
for (const part of form.querySelectorAll(".needs-script")) part.hidden = false;
startPlanning(form.querySelector("[data-rows]"));
startEstimate(form, document.getElementById("estimate"));

let isSent = false;
form.addEventListener("submit", (event) => {
  if (isSent) event.preventDefault();
  isSent = true;
});
addEventListener("pageshow", () => (isSent = false));
update();
