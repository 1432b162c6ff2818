/** Rows of planned interventions: added, removed, counted. Without a script there are three blank ones. */

const NUMBER = "__NUMBER__";
const MOST = 100;

export function startPlanning(part) {
  const list = part.querySelector("[data-list]");
  const blank = part.querySelector("[data-blank]");
  const count = part.querySelector("[data-count]");
  const adder = part.querySelector("[data-add]");
  const rows = () => [...list.querySelectorAll("[data-row]")];
  let next = rows().length;

  function isWritten(row) {
    return [...row.querySelectorAll("input, textarea")].some((field) => field.value.trim());
  }

  function say() {
    const written = rows().filter(isWritten).length;
    count.textContent = written ? interpolate(ngettext("%(n)s planned", "%(n)s planned", written), { n: written }, true) : count.dataset.none;
    adder.disabled = rows().length >= MOST;
  }

  function add() {
    const template = document.createElement("template");
    template.innerHTML = blank.innerHTML.replaceAll(NUMBER, next++);
    const row = template.content.firstElementChild;
    row.querySelector("legend").textContent = interpolate(gettext("Intervention %(n)s"), { n: rows().length + 1 }, true);
    row.querySelector("[data-remove]").hidden = false;
    list.append(row);
    row.querySelector("select").focus();
    say();
  }

  function remove(row) {
    const place = rows().indexOf(row);
    row.remove();
    (rows()[place]?.querySelector("[data-remove]") ?? adder).focus();
    part.dispatchEvent(new Event("change", { bubbles: true }));
    say();
  }

  for (const row of rows()) if (!isWritten(row)) row.remove();
  part.addEventListener("input", say);
  adder.addEventListener("click", add);
  list.addEventListener("click", (event) => {
    const button = event.target.closest("[data-remove]");
    if (button) remove(button.closest("[data-row]"));
  });
  say();
}
