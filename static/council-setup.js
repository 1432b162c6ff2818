/** Setting up a council: members come and go, Enter asks, and folded settings say what they are set to. */
import { ask } from "./confirm.js";
import { startEstimate } from "./estimate.js";
import { keepUpToDate, sayChoices, sayLengths, showBadges } from "./setup-form.js";

const form = document.getElementById("setup");
const field = (name) => form.elements.namedItem(name);
const members = form.querySelector("[data-members]");
const list = members.querySelector("[data-list]");
const blank = members.querySelector("[data-blank]");
const question = field("question");
const LEAST = 2;
let next = list.children.length;
let isSent = false;
let isSure = false;

/** With a script, rows in which nobody sits need not stand there. */
function removeEmptyRows() {
  for (const row of [...list.children]) if (!row.querySelector("select").value && list.children.length > LEAST) row.remove();
}

function add() {
  const row = blank.content.firstElementChild.cloneNode(true);
  for (const part of [row, ...row.querySelectorAll("*")]) {
    for (const { name, value } of [...part.attributes]) if (value.includes("__NUMBER__")) part.setAttribute(name, value.replaceAll("__NUMBER__", next));
  }
  next += 1;
  const select = row.querySelector("select");
  const chosen = new Set([...list.querySelectorAll("select")].map((one) => one.value));
  const free = [...select.options].find((option) => option.value && !chosen.has(option.value));
  select.value = free?.value ?? select.options[1]?.value ?? "";
  row.querySelector("[data-remove]").hidden = false;
  list.append(row);
  changed();
  select.focus();
}

function remove(row) {
  const neighbour = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  changed();
  neighbour?.querySelector("[data-remove]").focus();
}

function changed() {
  form.dispatchEvent(new Event("change", { bubbles: true }));
}

function number() {
  const rows = [...list.children];
  rows.forEach((row, at) => {
    for (const place of row.querySelectorAll("[data-number]")) place.textContent = at + 1;
    row.querySelector("[data-remove]").disabled = rows.length <= LEAST;
  });
  members.querySelector("[data-add]").disabled = rows.length >= Number(members.dataset.most);
  const words = ngettext("%(n)s member", "%(n)s members", rows.length);
  members.querySelector("[data-count-members]").textContent = interpolate(words, { n: rows.length }, true);
}

function sayWhatIsSet() {
  sayChoices(form);
  for (const place of form.querySelectorAll("[data-choice-of]")) place.textContent = field(place.dataset.choiceOf).selectedOptions[0].text;
  sayLengths(form);
  showBadges(field("seat-chair-model"));
}

function update() {
  number();
  sayWhatIsSet();
}

/** While an input method composes a word, Enter chooses it. */
function press(event) {
  const isComposing = event.isComposing || event.keyCode === 229;
  if (event.key !== "Enter" || event.shiftKey || event.altKey || isComposing) return;
  event.preventDefault();
  const start = document.getElementById("start");
  if (start && question.value.trim()) form.requestSubmit(start);
}

/** Buttons with `data-sure` ask first, naming what would be gone. */
async function submit(event) {
  const sure = event.submitter?.dataset.sure;
  if (sure && !isSure) {
    event.preventDefault();
    const dialog = document.getElementById("confirm");
    dialog.querySelector("h2").textContent = sure;
    dialog.querySelector("[data-yes]").textContent = event.submitter.firstChild.textContent;
    if (!(await ask(dialog))) return;
    isSure = true;
    form.requestSubmit(event.submitter);
    return;
  }
  if (isSent) event.preventDefault();
  isSent = true;
}

removeEmptyRows();
for (const part of form.querySelectorAll(".needs-script")) part.hidden = false;
members.querySelector("[data-add]").addEventListener("click", add);
list.addEventListener("click", (event) => event.target.closest("[data-remove]") && remove(event.target.closest("[data-row]")));
question.addEventListener("keydown", press);
form.addEventListener("submit", submit);
addEventListener("pageshow", () => {
  isSent = false;
  isSure = false;
});
// Enter in the name of a preset keeps it, instead of asking the council.
field("preset_name")?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("[data-keep]"));
});
startEstimate(form, document.getElementById("estimate"));
keepUpToDate(form, update);
