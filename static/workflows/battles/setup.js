/** Setting up battles: the dataset's parts come with it, and contestants are ticked all at once. */

const form = document.getElementById("setup");
const ticks = form?.querySelector("[data-ticks]");
const boxes = () => [...ticks.querySelectorAll("input[type=checkbox]:not(:disabled)")];

function sayTicked() {
  const names = { n: boxes().filter((box) => box.checked).length, all: boxes().length };
  ticks.querySelector("[data-ticked]").textContent = interpolate(gettext("%(n)s of %(all)s"), names, true);
}

function tick(all) {
  for (const box of boxes()) box.checked = all;
  form.dispatchEvent(new Event("change", { bubbles: true }));
}

if (form) {
  const choose = form.querySelector("[data-choose]");
  choose.hidden = true;
  for (const part of form.querySelectorAll("[data-ticker]")) part.hidden = false;
  for (const button of form.querySelectorAll("[data-tick]")) button.addEventListener("click", () => tick(button.dataset.tick === "all"));
  // Another dataset has other contestants: the server shows the form with them, and keeps what was typed.
  form.elements.namedItem("dataset").addEventListener("change", () => form.requestSubmit(choose));
  form.addEventListener("change", sayTicked);
  addEventListener("pageshow", sayTicked);
  sayTicked();
}
