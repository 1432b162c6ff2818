/** On small screens the columns of a run are tabs. On wide ones they are columns, and nothing here has a role. */

const SMALL = matchMedia("(max-width: 799px)");

/** first: the place of the tab that is shown at first. */
export function startTabs(list, onShow, first = 1) {
  if (!list) return;
  const tabs = [...list.querySelectorAll("button")];
  const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const places = new Map(); // where the reader was in each tab
  let chosen = tabs[first];

  function arrange() {
    list.toggleAttribute("role", false);
    if (SMALL.matches) list.setAttribute("role", "tablist");
    for (const tab of tabs) arrangeTab(tab);
    onShow();
  }

  function arrangeTab(tab) {
    const panel = panelOf(tab);
    panel.hidden = SMALL.matches && tab !== chosen;
    if (SMALL.matches) {
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      panel.setAttribute("role", "tabpanel");
    } else {
      panel.removeAttribute("role");
    }
  }

  function choose(tab) {
    const start = list.previousElementSibling.offsetTop;
    places.set(chosen, scrollY);
    chosen = tab;
    arrange();
    scrollTo({ top: places.get(tab) ?? Math.min(scrollY, start), behavior: "instant" });
    onShow();
  }

  for (const tab of tabs) tab.addEventListener("click", () => choose(tab));
  list.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    choose(tabs[(tabs.indexOf(chosen) + step + tabs.length) % tabs.length]);
    chosen.focus();
  });
  SMALL.addEventListener("change", arrange);
  arrange();
}
