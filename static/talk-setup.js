/** The set-up of a talk: shows what applies, says what folded settings are set to, and starts on Ctrl+Enter. */
import { startEstimate } from "./estimate.js";
import { keepUpToDate, sayChoices, showBadges, showWhatApplies, startOnCtrlEnter, submitOnce } from "./setup-form.js";

const form = document.getElementById("setup");
const field = (name) => form.elements.namedItem(name);
const silent = JSON.parse(document.getElementById("silent-models").textContent);

function update() {
  showWhatApplies(form);
  sayChoices(form);
  for (const select of form.querySelectorAll("select[name$=-model]")) showBadges(select);
  const isSilent = field("logprobs").checked && silent.includes(field("seat-model-model").value);
  document.getElementById("silent-note").hidden = !isSilent;
}

startOnCtrlEnter(form);
submitOnce(form);
keepUpToDate(form, update);
startEstimate(form, document.getElementById("estimate"));
