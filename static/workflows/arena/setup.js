/** Whoever leads a talk turn by turn also ends it: in manual mode there is no last turn unless one is asked for. */

const TURNS = "5";
const form = document.getElementById("setup");
const field = (name) => form.elements.namedItem(name);

form.addEventListener("change", ({ target }) => {
  if (target.name !== "mode") return;
  const none = field("max_turns-none");
  none.checked = target.value === "manual";
  if (!none.checked) field("max_turns").value ||= TURNS;
  none.dispatchEvent(new Event("change", { bubbles: true }));
});
