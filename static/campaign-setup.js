/** Setting up battles or outputs: the dataset's parts come with it, and folded settings say what they are set to. */
import { startEstimate } from "./estimate.js";
import { keepUpToDate, sayChoices, showBadges, submitOnce } from "./setup-form.js";

const form = document.getElementById("setup");
const field = (name) => form.elements.namedItem(name);
const ticks = form.querySelector("[data-ticks]");
const boxes = () => [...(ticks?.querySelectorAll("input[type=checkbox]:not(:disabled)") ?? [])];

/** Another dataset has other contestants: the server shows the form with them, and keeps what was typed. */
function chooseDataset() {
  const button = form.querySelector("[data-choose]");
  if (button) form.requestSubmit(button);
}

function tick(all) {
  for (const box of boxes()) box.checked = all;
  form.dispatchEvent(new Event("change", { bubbles: true }));
}

function sayTicked() {
  const place = ticks?.querySelector("[data-ticked]");
  if (!place) return;
  const names = { n: boxes().filter((box) => box.checked).length, all: boxes().length };
  place.textContent = interpolate(gettext("%(n)s of %(all)s"), names, true);
}

function sayTakenSeats() {
  for (const place of form.querySelectorAll("[data-seats-of]")) {
    const selects = [...form.querySelectorAll(`select[name^="${place.dataset.seatsOf}"]`)].filter((one) => one.name !== "seat-judge-model");
    const taken = selects.filter((one) => one.value).map((one) => one.selectedOptions[0].textContent);
    place.textContent = taken.join(", ") || place.dataset.default;
  }
}

function showPlan() {
  const plan = field("sampling-plan")?.value;
  for (const part of form.querySelectorAll("[data-plan]")) part.classList.toggle("is-off", part.dataset.plan !== plan);
}

function update() {
  sayChoices(form);
  sayTicked();
  sayTakenSeats();
  showPlan();
  for (const select of form.querySelectorAll("select[name$=-model]")) showBadges(select);
}

for (const part of form.querySelectorAll(".needs-script")) part.hidden = false;
for (const part of form.querySelectorAll(".needs-no-script")) part.hidden = true;
for (const button of form.querySelectorAll("[data-tick]")) button.addEventListener("click", () => tick(button.dataset.tick === "all"));
field("dataset")?.addEventListener("change", chooseDataset);
keepUpToDate(form, update);
submitOnce(form);
startEstimate(form, document.getElementById("estimate"));
