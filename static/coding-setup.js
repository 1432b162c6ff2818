/** Setting up a contest: models come and go, each once; it is said who sets, and what folded settings are set to. */
import { startEstimate } from "./estimate.js";
import { keepUpToDate, sayChoices, startOnCtrlEnter, submitOnce } from "./setup-form.js";

const form = document.getElementById("setup");
const field = (name) => form.elements.namedItem(name);
const members = form.querySelector("[data-members]");
const list = members.querySelector("[data-list]");
const blank = members.querySelector("[data-blank]");
const LEAST = 3;
let next = list.children.length;

const rows = () => [...list.children];
const selectOf = (row) => row.querySelector('select[name$="-model"]');

/** With a script, rows in which nobody sits need not stand there. */
function removeEmptyRows() {
  for (const row of rows()) if (!selectOf(row).value && list.children.length > LEAST) row.remove();
}

function add() {
  const row = blank.content.firstElementChild.cloneNode(true);
  for (const part of [row, ...row.querySelectorAll("*")]) {
    for (const { name, value } of [...part.attributes]) if (value.includes("__NUMBER__")) part.setAttribute(name, value.replaceAll("__NUMBER__", next));
  }
  next += 1;
  const select = selectOf(row);
  const chosen = new Set(rows().map((one) => selectOf(one).value));
  select.value = [...select.options].find((option) => option.value && !chosen.has(option.value))?.value ?? "";
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
  rows().forEach((row, at) => {
    for (const place of row.querySelectorAll("[data-number]")) place.textContent = at + 1;
    row.querySelector("[data-remove]").disabled = list.children.length <= LEAST;
  });
  members.querySelector("[data-add]").disabled = list.children.length >= Number(members.dataset.most);
  const words = ngettext("%(n)s model", "%(n)s models", seated());
  members.querySelector("[data-count-members]").textContent = interpolate(words, { n: seated() }, true);
}

function seated() {
  return rows().filter((row) => selectOf(row).value).length;
}

/** A model that sits elsewhere cannot be chosen a second time. */
function offerEachOnce() {
  const chosen = rows().map((row) => selectOf(row).value);
  for (const row of rows()) {
    const select = selectOf(row);
    for (const option of select.options) option.disabled = Boolean(option.value) && option.value !== select.value && chosen.includes(option.value);
  }
}

function saySetters() {
  const place = form.querySelector("[data-setters]");
  const n = seated();
  if (n < LEAST) return;
  const words = setters(field("setters").value, Math.max(1, Number(field("cycles").value) || 1), n);
  if (place.textContent !== words) place.textContent = words;
}

function setters(asked, cycles, n) {
  const isEven = cycles % n === 0;
  if (asked === "random" || (asked === "auto" && !isEven)) {
    return interpolate(gettext("The seed draws a setter for each cycle. In turn comes out even with %(n)s cycles, or a multiple."), { n }, true);
  }
  if (!isEven) return interpolate(gettext("In turn, but not evenly: that needs %(n)s cycles, or a multiple."), { n }, true);
  const each = cycles / n;
  return interpolate(ngettext("In turn: every model sets once.", "In turn: every model sets %(n)s times.", each), { n: each }, true);
}

function update() {
  number();
  offerEachOnce();
  saySetters();
  sayChoices(form);
}

removeEmptyRows();
for (const part of form.querySelectorAll(".needs-script")) part.hidden = false;
members.querySelector("[data-add]").addEventListener("click", add);
list.addEventListener("click", (event) => event.target.closest("[data-remove]") && remove(event.target.closest("[data-row]")));
submitOnce(form);
startOnCtrlEnter(form);
startEstimate(form, document.getElementById("estimate"));
keepUpToDate(form, update);
