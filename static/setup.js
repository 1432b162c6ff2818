/** The set-up form: shows what applies, says what folded settings are set to, and what a run may come to. */

const form = document.getElementById("setup");
const field = (name) => form.elements.namedItem(name);
const estimate = document.getElementById("estimate");

function isOn(name) {
  return field(name).checked;
}

/** Only the chosen prompts, and only the models of tools that are switched on. */
function showWhatApplies() {
  const prompting = field("prompting").value;
  for (const part of form.querySelectorAll("[data-when]")) part.hidden = part.dataset.when !== prompting;
  for (const part of form.querySelectorAll("[data-needs]")) part.hidden = !isOn(part.dataset.needs);
  field("max_turns").disabled = isOn("max_turns-none");
}

function sayWhatIsSet() {
  for (const place of form.querySelectorAll("[data-of]")) {
    place.textContent = field(place.dataset.of).value.trim() || place.dataset.default;
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

function number(name) {
  const value = Number(field(name).value);
  return Number.isFinite(value) ? value : 0;
}

function callsPerTurn() {
  return 2 + (isOn("filter") ? 2 : 0) + (isOn("judge") ? 1 : 0);
}

function longestReply(seat) {
  const given = field(`seat-${seat}-max_tokens`);
  return Number(given.value || given.placeholder);
}

function sayEstimate() {
  const turns = isOn("max_turns-none") ? null : number("max_turns");
  const each = callsPerTurn();
  estimate.hidden = turns === 0;
  if (turns === null) {
    const words = ngettext("%(n)s call a turn, until a limit or Stop ends it", "%(n)s calls a turn, until a limit or Stop ends it", each);
    estimate.textContent = interpolate(words, { n: each }, true);
    return;
  }
  const calls = turns * each;
  const tokens = turns * (longestReply("A") + longestReply("B"));
  const counts = { n: calls, tokens: tokens.toLocaleString("en") };
  const words = ngettext("At most %(n)s call, replies up to %(tokens)s tokens", "At most %(n)s calls, replies up to %(tokens)s tokens", calls);
  estimate.textContent = interpolate(words, counts, true);
}

function update() {
  showWhatApplies();
  sayWhatIsSet();
  sayEstimate();
}

form.addEventListener("input", update);
form.addEventListener("change", update);
addEventListener("pageshow", update); // a browser restores fields after "back" without an event

let isSent = false;
form.addEventListener("submit", (event) => {
  if (isSent) event.preventDefault();
  isSent = true;
});
addEventListener("pageshow", () => (isSent = false));
update();
