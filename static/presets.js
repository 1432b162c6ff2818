/** The picker of system contexts: a preset fills the text, a changed text is "custom", a text can be saved. */

const picker = document.querySelector("[data-presets]");
const select = picker.querySelector("select");
const text = picker.querySelector("textarea");
const hint = picker.querySelector("#preset-description");
const dialog = picker.querySelector("[data-preset-dialog]");
const opener = picker.querySelector("[data-save-preset]");
const name = dialog.querySelector("input");
const problem = dialog.querySelector("#preset-problem");
const saver = dialog.querySelector("[data-confirm-save]");
const texts = JSON.parse(document.getElementById("preset-texts").textContent);
let own = select.value === "custom" ? text.value : ""; // comes back when "Custom" is chosen again

const written = () => text.value.replaceAll("\r\n", "\n").trim();

function describe() {
  hint.textContent = texts[select.value]?.description ?? "";
  opener.hidden = select.value !== "custom" || !written();
}

function fill() {
  text.value = texts[select.value]?.context ?? own;
  describe();
}

/** A text that was changed back is the preset again. */
function edited() {
  const chosen = texts[select.value];
  if (!chosen || chosen.context !== written()) {
    select.value = Object.keys(texts).find((id) => written() && texts[id].context === written()) ?? "custom";
  }
  if (select.value === "custom") own = text.value;
  describe();
}

async function save() {
  problem.textContent = name.value.trim() ? "" : gettext("Enter a name.");
  if (problem.textContent) return;
  saver.disabled = true;
  try {
    const answer = await fetch(saver.dataset.address, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": document.querySelector("[name=csrfmiddlewaretoken]").value },
      body: JSON.stringify({ name: name.value, context: text.value }),
    });
    const said = await answer.json();
    if (answer.ok) keep(said);
    else problem.textContent = Object.values(said.errors ?? {}).flat().join(" ") || said.detail;
  } catch {
    problem.textContent = gettext("The server could not be reached. Nothing was saved. Try again.");
  }
  saver.disabled = false;
}

function keep(preset) {
  texts[preset.id] = { context: preset.context, description: preset.description };
  let group = select.querySelector("[data-origin=mine]");
  if (!group) {
    group = document.createElement("optgroup");
    group.dataset.origin = "mine";
    group.label = gettext("Mine");
    select.querySelector("[data-origin=builtin]").after(group);
  }
  group.append(new Option(preset.label, preset.id));
  select.value = preset.id;
  text.value = preset.context;
  dialog.close();
  describe();
  document.getElementById("announcer").textContent = gettext("The preset is saved.");
  select.focus();
}

select.addEventListener("change", fill);
text.addEventListener("input", edited);
opener.addEventListener("click", () => {
  problem.textContent = "";
  dialog.showModal();
  name.focus();
});
dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close());
saver.addEventListener("click", save);
name.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return; // would send the form around the dialog
  event.preventDefault();
  save();
});
addEventListener("pageshow", describe);
describe();
