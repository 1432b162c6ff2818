/** What every page has: menus, palette, keyboard, confirmations, copying, local times, charts. */
import { startCharts } from "./charts.js";
import { startConfirmations } from "./confirm.js";
import { startMenus } from "./menus.js";
import { startPalette } from "./palette.js";
import { startShortcuts } from "./shortcuts.js";
import { localise } from "./times.js";

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
