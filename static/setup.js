/** A set-up page: shows what applies, says what folded settings are set to, starts by keyboard, asks before it deletes. */
import "./model-picker.js";
import "./row-list.js";
import { ask } from "./confirm.js";

const form = document.getElementById("setup") ?? document.createElement("form"); // where nothing can be set up yet
const field = (name) => form.elements.namedItem(name);
let isSent = false;
let isSure = false;

function valueOf(name) {
  const one = field(name);
  return one.type === "checkbox" ? (one.checked ? "on" : "") : one.value;
}

function showWhatApplies() {
  for (const part of form.querySelectorAll("[data-when]")) part.toggleAttribute("data-idle", valueOf(part.dataset.when) !== part.dataset.is);
  for (const box of form.querySelectorAll("[name$=-none]")) field(box.name.replace(/-none$/, "")).disabled = box.checked;
}

/** What a field is set to, where its folded group is named; of a long text, how long it is. */
function said(name, unset) {
  const one = field(name) ?? document.getElementById(`id_${name}`);
  if (one.matches?.("row-list")) return one.rows.filter((row) => one.isFilled(row)).length || unset;
  if (one instanceof RadioNodeList) return [...one].find((radio) => radio.checked)?.parentNode.textContent.trim();
  if (one.type === "checkbox") return one.checked ? gettext("yes") : gettext("no");
  if (!one.value.trim()) return unset;
  if (one.matches("select")) return one.selectedOptions[0].textContent;
  if (!one.matches("textarea")) return one.value.trim();
  const words = ngettext("%(n)s character", "%(n)s characters", one.value.length);
  return interpolate(words, { n: one.value.length.toLocaleString("en") }, true);
}

function sayWhatIsSet() {
  for (const place of form.querySelectorAll("[data-of]")) place.textContent = said(place.dataset.of, place.dataset.default);
  for (const place of form.querySelectorAll("[data-chosen]")) {
    const selects = [...place.closest("details").querySelectorAll("select[name$=-model]")].filter((select) => select.value);
    place.textContent = selects.map((select) => select.selectedOptions[0].textContent).join(" · ") || place.dataset.default;
  }
  for (const place of form.querySelectorAll("[data-seat]")) {
    const { seat, box, off } = place.dataset;
    place.textContent = box && !valueOf(box) ? off : said(`seat-${seat}-model`, place.dataset.default);
  }
}

/** Enter in the main field where that starts, Ctrl+Enter elsewhere; while an input method composes, it chooses a word. */
function pressed(event) {
  if (event.key !== "Enter" || event.isComposing || event.keyCode === 229 || document.querySelector("dialog[open]")) return;
  const isMain = event.target.name === form.getAttribute("data-enter") && !event.shiftKey && !event.altKey;
  const isPreset = event.target.id === "preset_name";
  if (!isMain && !isPreset && !event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  const button = isPreset ? form.querySelector("[data-keep]") : document.getElementById("start");
  if (button && (!isMain || event.target.value.trim())) form.requestSubmit(button);
}

/** A second click sends nothing. Buttons with `data-sure` ask first, naming what would be gone. */
async function submitted(event) {
  const sure = event.submitter?.dataset.sure;
  if (!sure || isSure) {
    if (isSent) event.preventDefault();
    isSent = true;
    return;
  }
  event.preventDefault();
  const dialog = document.getElementById("confirm");
  dialog.querySelector("h2").textContent = sure;
  dialog.querySelector("[data-yes]").textContent = event.submitter.firstChild.textContent;
  if (!(await ask(dialog))) return;
  isSure = true;
  form.requestSubmit(event.submitter);
}

/** An example takes the place of what stands in the field; Ctrl+Z brings that back. */
function fill({ target }) {
  const button = target.closest("[data-fill]");
  if (!button) return;
  const one = document.getElementById(button.dataset.fill);
  one.focus();
  one.select();
  document.execCommand("insertText", false, button.value); // the one way that can be undone
}

function update() {
  showWhatApplies();
  sayWhatIsSet();
}

form.addEventListener("keydown", pressed);
form.addEventListener("submit", submitted);
form.addEventListener("click", fill);
form.addEventListener("input", update);
form.addEventListener("change", update);
addEventListener("pageshow", () => {
  isSent = false;
  isSure = false;
  update(); // a browser restores fields after "back" without an event
});
form.querySelector("[aria-invalid=true]")?.focus();
if (form.id) {
  addEventListener("pageshow", (event) => event.persisted && form.dispatchEvent(new Event("change")));
  update();
}
