/** A select with `data-picker` is filled by typing: what fits is fetched from the address that it names. The select keeps the value. */

const PAUSE = 150; // ms after a key

for (const select of document.querySelectorAll("select[data-picker]")) start(select);

function start(select) {
  const empty = select.querySelector('option[value=""]')?.textContent.trim(); // what it means to choose nothing
  const input = Object.assign(document.createElement("input"), { id: select.id, type: "text", autocomplete: "off", placeholder: empty || gettext("Type to search") });
  const list = Object.assign(document.createElement("ul"), { id: `${select.id}-list`, className: "picker-list", hidden: true });
  const chips = Object.assign(document.createElement("ul"), { className: "picker-chips" });
  const box = Object.assign(document.createElement("span"), { className: "picker" });
  const state = { select, input, list, chips, found: [], at: -1, timer: null };
  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id })) input.setAttribute(name, value);
  for (const name of ["aria-describedby", "aria-invalid"]) if (select.hasAttribute(name)) input.setAttribute(name, select.getAttribute(name));
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", document.querySelector(`label[for="${select.id}"]`)?.textContent ?? "");
  select.id += "-value";
  select.hidden = true;
  select.after(box);
  box.append(...(select.multiple ? [chips, input, list] : [input, list]));
  show(state);
  input.addEventListener("input", () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(() => find(state), PAUSE);
  });
  input.addEventListener("click", () => find(state));
  input.addEventListener("keydown", (event) => onKey(event, state));
  input.addEventListener("blur", () => leave(state));
  list.addEventListener("mousedown", (event) => {
    event.preventDefault(); // the field keeps the focus
    const row = event.target.closest("[role=option]");
    if (row) choose(state, state.found[[...list.children].indexOf(row)]);
  });
}

function onKey(event, state) {
  const { input, list, select, found } = state;
  const keys = {
    ArrowDown: () => (list.hidden ? find(state) : point(state, state.at + 1)),
    ArrowUp: () => point(state, state.at - 1),
    Enter: () => choose(state, found[state.at]),
    Escape: () => close(state),
  };
  if (event.key === "Backspace" && select.multiple && !input.value) {
    const last = select.selectedOptions[select.selectedOptions.length - 1];
    if (last) unchoose(state, last);
  } else if (keys[event.key] && (event.key === "ArrowDown" || !list.hidden)) {
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  }
}

async function find(state) {
  const { select, input, list } = state;
  const typed = input.value === chosenLabel(select) ? "" : input.value;
  const answer = await fetch(`${select.dataset.picker}?${new URLSearchParams({ q: typed })}`, { redirect: "error" }).catch(() => null);
  if (!answer?.ok || document.activeElement !== input) return;
  const taken = new Set(select.multiple ? [...select.selectedOptions].map((one) => one.value) : []);
  state.found = (await answer.json()).results.filter((one) => !taken.has(one.value));
  list.replaceChildren(...state.found.map((one, number) => row(list, one, number)));
  if (!state.found.length) list.append(Object.assign(document.createElement("li"), { className: "muted", textContent: gettext("No matches.") }));
  list.hidden = false;
  input.setAttribute("aria-expanded", "true");
  point(state, -1);
}

function row(list, one, number) {
  const element = Object.assign(document.createElement("li"), { id: `${list.id}-${number}`, textContent: one.label });
  element.setAttribute("role", "option");
  if (one.hint) element.append(" ", Object.assign(document.createElement("span"), { className: "muted small", textContent: one.hint }));
  return element;
}

function point(state, at) {
  state.at = Math.max(-1, Math.min(state.found.length - 1, at));
  [...state.list.children].forEach((one, number) => one.setAttribute("aria-selected", String(number === state.at)));
  state.input.setAttribute("aria-activedescendant", state.at < 0 ? "" : state.list.children[state.at].id);
  state.list.children[state.at]?.scrollIntoView({ block: "nearest" });
}

function choose(state, one) {
  if (!one) return;
  const { select } = state;
  const known = [...select.options].find((option) => option.value === one.value);
  const option = known ?? select.appendChild(new Option(one.label, one.value));
  option.selected = true;
  changed(state);
}

function unchoose(state, option) {
  option.selected = false;
  changed(state);
}

function changed(state) {
  close(state);
  show(state);
  state.select.dispatchEvent(new Event("change", { bubbles: true }));
}

/** What was typed and not chosen is nothing; an emptied field chooses nothing. */
function leave(state) {
  const { select, input } = state;
  clearTimeout(state.timer);
  close(state);
  if (!select.multiple && !input.value && select.value) {
    select.value = "";
    changed(state);
  } else show(state);
}

function close(state) {
  state.list.hidden = true;
  state.input.setAttribute("aria-expanded", "false");
  state.input.removeAttribute("aria-activedescendant");
}

function show(state) {
  const { select, input, chips } = state;
  input.value = select.multiple ? "" : chosenLabel(select);
  if (select.multiple) chips.replaceChildren(...[...select.selectedOptions].map((option) => chip(state, option)));
}

function chip(state, option) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
  button.setAttribute("aria-label", interpolate(gettext("Remove %s"), [option.textContent]));
  button.addEventListener("click", () => {
    unchoose(state, option);
    state.input.focus();
  });
  const element = Object.assign(document.createElement("li"), { className: "badge people", textContent: option.textContent });
  element.append(" ", button);
  return element;
}

function chosenLabel(select) {
  return !select.multiple && select.value ? select.selectedOptions[0].textContent.trim() : "";
}
