/** A declared set-up page: shows what applies, says what folded settings are set to, and starts on Ctrl+Enter. */
import { startEstimate } from "./estimate.js";
import { keepUpToDate, sayChoices, showBadges, showWhatApplies, startOnCtrlEnter, submitOnce } from "./setup-form.js";

const form = document.getElementById("setup");

function sayChosen(place) {
  const selects = [...place.closest("details").querySelectorAll("select[name$=-model]")].filter((select) => select.value);
  place.textContent = selects.map((select) => select.selectedOptions[0].textContent).join(" · ") || place.dataset.default;
}

startOnCtrlEnter(form);
submitOnce(form);
startEstimate(form, document.getElementById("estimate"));
keepUpToDate(form, () => {
  showWhatApplies(form);
  sayChoices(form);
  form.querySelectorAll("[data-chosen]").forEach(sayChosen);
  form.querySelectorAll("select[name$=-model]").forEach(showBadges);
});
