/** The set-up of a debate: shows what applies, says what folded settings are set to, and starts on Ctrl+Enter. */
import { startEstimate } from "./estimate.js";
import { keepUpToDate, sayChoices, showBadges, showWhatApplies, startOnCtrlEnter, submitOnce } from "./setup-form.js";

const form = document.getElementById("setup");

function update() {
  showWhatApplies(form);
  sayChoices(form);
  sayPool(form.querySelector("[data-pool]"));
  for (const select of form.querySelectorAll("select[name$=-model]")) showBadges(select);
}

function sayPool(place) {
  const chosen = [...form.querySelectorAll("select[name^=seat-pool-]")].filter((select) => select.value);
  place.textContent = chosen.map((select) => select.selectedOptions[0].textContent).join(" · ") || place.dataset.default;
}

startOnCtrlEnter(form);
submitOnce(form);
startEstimate(form, document.getElementById("estimate"));
keepUpToDate(form, update);
