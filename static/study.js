/** The factors of a study: where one varies a model, the lab's models are offered, and become lines of its levels. */

const blank = document.querySelector("template[data-models]");

function offer(row) {
  const isModel = row.querySelector("select[name$=-varies]").value.endsWith(".model");
  const shown = row.querySelector("[data-offered]");
  if (isModel === Boolean(shown)) return;
  if (shown) return shown.remove();
  const label = blank.content.firstElementChild.cloneNode(true);
  label.dataset.offered = "";
  const levels = row.querySelector("textarea[name$=-levels]");
  label.querySelector("select").addEventListener("change", ({ target }) => {
    levels.value = [levels.value.trim(), target.value].filter(Boolean).join("\n");
    target.value = "";
    levels.dispatchEvent(new Event("input", { bubbles: true }));
  });
  levels.parentNode.append(label);
}

function update() {
  for (const row of document.querySelectorAll("#id_factors [data-row]")) offer(row);
}

document.getElementById("setup").addEventListener("change", update);
update();
