/** Selected rows of a table: how many they are, all of them at once, and what can be done with so many. */

const form = document.getElementById("chosen");
const all = document.getElementById("choose-all");
const boxes = [...document.querySelectorAll('input[form="chosen"][type="checkbox"]')];

function show() {
  const n = boxes.filter((box) => box.checked).length;
  const words = ngettext("%(n)s selected", "%(n)s selected", n);
  document.getElementById("chosen-count").value = interpolate(words, { n }, true);
  for (const button of form.querySelectorAll("[data-needs]")) {
    const [least, most] = button.dataset.needs.split("-").map(Number);
    const has = (name) => boxes.some((box) => box.checked && box.name === name);
    button.disabled = !has("experiment") && (n < least || n > most);
  }
  all.checked = n === boxes.length;
  all.indeterminate = n > 0 && n < boxes.length;
}

if (form) {
  all.closest("label").hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    show();
  });
  for (const box of boxes) box.addEventListener("change", show);
  show();
}
