/** The set-up of a debate: shows what applies, says what folded settings are set to, and starts on Ctrl+Enter. */
import { startEstimate } from "./estimate.js";

const form = document.getElementById("setup");
const field = (name) => form.elements.namedItem(name);
let isSent = false;

function update() {
  for (const part of form.querySelectorAll("[data-needs]")) part.hidden = !field(part.dataset.needs).checked;
  for (const part of form.querySelectorAll("[data-in-mode]")) part.hidden = field("mode").value !== part.dataset.inMode;
  for (const place of form.querySelectorAll("[data-of]")) {
    const { value, selectedOptions } = field(place.dataset.of);
    place.textContent = (value && selectedOptions ? selectedOptions[0].textContent : value.trim()) || place.dataset.default;
  }
  sayPool(form.querySelector("[data-pool]"));
  for (const select of form.querySelectorAll("select[name$=-model]")) showBadges(select);
}

function sayPool(place) {
  const chosen = [...form.querySelectorAll("select[name^=seat-pool-]")].filter((select) => select.value);
  place.textContent = chosen.map((select) => select.selectedOptions[0].textContent).join(" · ") || place.dataset.default;
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

form.addEventListener("input", update);
form.addEventListener("change", update);
form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  if (document.querySelector("dialog[open]")) return;
  event.preventDefault();
  form.requestSubmit();
});
form.addEventListener("submit", (event) => {
  if (isSent) event.preventDefault();
  isSent = true;
});
addEventListener("pageshow", () => {
  isSent = false;
  update(); // a browser restores fields after "back" without an event
});
startEstimate(form, document.getElementById("estimate"));
update();
