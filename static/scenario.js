/** The form of a scenario: shows the instructions that apply, and frees the number of turns from its limit. */

const form = document.getElementById("scenario-form");
const field = (name) => form.elements.namedItem(name);

function update() {
  for (const part of form.querySelectorAll("[data-when]")) part.hidden = part.dataset.when !== field("prompting").value;
  field("max_turns").disabled = field("max_turns-none").checked;
}

form.addEventListener("change", update);
addEventListener("pageshow", update); // a browser restores fields after "back" without an event
update();
