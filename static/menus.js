/** The header's menus are folds, of which one is open at a time: Escape, a click elsewhere and leaving them close them. */

const OPEN = ".site-menu[open]";

export function startMenus() {
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
