/** What every page has: menus, palette, keyboard, confirmations, copying, local times, charts. */
import { startCharts } from "./charts.js";
import { startConfirmations } from "./confirm.js";
import { startPalette, startShortcuts } from "./keys.js";
import { localise } from "./times.js";

const OPEN = ".site-menu[open]";

startMenus();
startPalette();
startShortcuts();
startConfirmations();
startCharts();
localise(document);
document.querySelector("[data-focus]")?.focus();

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const field = document.getElementById(button.dataset.copy);
    field.select();
    await navigator.clipboard.writeText(field.value);
    document.getElementById("announcer").textContent = gettext("Copied");
    button.lastChild.textContent = ` ${gettext("Copied")}`;
  });
}

/** The header's menus are folds, of which one is open at a time: Escape, a click elsewhere and leaving them close them. */
function startMenus() {
  document.addEventListener("keydown", (event) => {
    const menu = document.querySelector(OPEN);
    if (event.key !== "Escape" || !menu || document.querySelector("dialog[open]")) return;
    menu.open = false;
    menu.querySelector("summary").focus();
    event.preventDefault();
  });
  for (const name of ["click", "focusin"]) document.addEventListener(name, (event) => closeOthers(event.target));
}

function closeOthers(target) {
  for (const menu of document.querySelectorAll(OPEN)) menu.open = menu.contains(target);
}
