/** The editor of an instrument: rows of dimensions, a key that follows from the label, and placeholders that a click fills in. */
import "./model-picker.js";
import "./picker.js";
import "./row-list.js";

const form = document.getElementById("instrument");

/** The key of a dimension as its label has it, until somebody writes another one. */
function follow({ target }) {
  const label = target.closest(".part-title input");
  const key = label?.closest("[data-row]").querySelector(".part-name input");
  if (!key || key.dataset.own || (key.value && key.defaultValue)) return;
  key.value = label.value
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+|_+$/g, "")
    .slice(0, 40);
}

function insert({ target }) {
  const button = target.closest("[data-insert]");
  if (!button) return;
  form.elements.namedItem("prompt").focus();
  document.execCommand("insertText", false, button.dataset.insert); // the one way that can be undone
}

form.addEventListener("input", (event) => {
  if (event.target.closest(".part-name")) event.target.dataset.own = "1";
  follow(event);
});
form.addEventListener("click", insert);
