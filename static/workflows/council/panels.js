/** Panels that stand below each other become tabs. Arrow keys, Home and End go from one to the other. */

const STEPS = { ArrowLeft: -1, ArrowRight: 1 };
const ENTRIES = "[data-state]";

/** signs: a template with the sign of each state. Panels that come later become tabs, too. */
export function startPanels(root, signs) {
  const groups = new Map();

  function arrange() {
    for (const element of root.querySelectorAll("[data-tabs]")) {
      if (!groups.has(element)) groups.set(element, new Group(element, signs));
      groups.get(element).show();
    }
  }

  new MutationObserver(arrange).observe(root, { childList: true, subtree: true });
  arrange();
  root.addEventListener("reveal", ({ target }) => reveal(groups, target));
  addEventListener("hashchange", () => reveal(groups, linked(), true));
  reveal(groups, linked(), true);
}

function linked() {
  return location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
}

/** What is linked to, or found by the search, is shown with its panel. */
function reveal(groups, target, goes = false) {
  const panel = target?.closest(".panel");
  const group = panel && groups.get(panel.parentElement);
  if (!group) return;
  group.choose(panel);
  if (goes) target.scrollIntoView({ block: "start" });
}

class Group {
  #chosen = null;
  #isTouched = false;

  constructor(element, signs) {
    this.element = element;
    this.signs = signs.content;
    this.list = document.createElement("div");
    this.list.className = "panel-tabs";
    this.list.setAttribute("role", "tablist");
    this.list.setAttribute("aria-label", element.dataset.label);
    this.tabs = new Map([...element.children].map((panel) => [panel, this.#tab(panel)]));
    this.list.append(...this.tabs.values());
    this.list.addEventListener("keydown", (event) => this.#key(event));
    element.before(this.list);
    element.dataset.tabbed = "";
  }

  get panels() {
    return [...this.tabs.keys()].filter((panel) => !this.tabs.get(panel).hidden);
  }

  choose(panel) {
    this.#isTouched = true;
    this.#chosen = panel;
    this.show();
  }

  /** The states as they are now. Until a reader chooses, the first panel with something to read in it is shown. */
  show() {
    for (const [panel, tab] of this.tabs) this.#mark(tab, stateOf(panel), isLeftOut(panel));
    const { panels } = this;
    this.list.hidden = !panels.length;
    if (!panels.includes(this.#chosen)) this.#chosen = null;
    if (!this.#chosen || (!this.#isTouched && !isReadable(this.#chosen))) {
      this.#chosen = panels.find(isReadable) ?? panels.find(isFilled) ?? panels[0] ?? null;
    }
    for (const [panel, tab] of this.tabs) this.#arrange(panel, tab);
  }

  #arrange(panel, tab) {
    const isShown = panel === this.#chosen;
    if (panel.hidden === isShown) panel.hidden = !isShown;
    if (tab.getAttribute("aria-selected") === String(isShown)) return;
    tab.setAttribute("aria-selected", String(isShown));
    tab.tabIndex = isShown ? 0 : -1;
  }

  #tab(panel) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `tab-${panel.id}`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    const number = document.createElement("span");
    number.className = "seat seat-member small";
    number.textContent = panel.dataset.number;
    number.setAttribute("aria-hidden", "true");
    const name = document.createElement("span");
    name.className = "tab-name";
    name.textContent = panel.dataset.name;
    const sign = document.createElement("span");
    sign.className = "tab-sign";
    tab.append(number, name, sign);
    tab.addEventListener("click", () => this.#go(panel));
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.tabIndex = 0;
    return tab;
  }

  #mark(tab, state, isHidden) {
    if (tab.hidden !== isHidden) tab.hidden = isHidden;
    if (tab.dataset.state === state) return;
    tab.dataset.state = state;
    const sign = this.signs.querySelector(`[data-sign="${state}"]`);
    tab.querySelector(".tab-sign").replaceChildren(...(sign ? [...sign.cloneNode(true).childNodes] : []));
  }

  /** The tabs stay where they are on the screen, however long the panels are. */
  #go(panel) {
    const before = this.list.getBoundingClientRect().top;
    this.choose(panel);
    scrollBy({ top: this.list.getBoundingClientRect().top - before, behavior: "instant" });
  }

  #key(event) {
    const { panels } = this;
    const at = panels.findIndex((panel) => this.tabs.get(panel) === event.target);
    const step = STEPS[event.key];
    const next = { Home: panels[0], End: panels.at(-1) }[event.key] ?? (step && panels[(at + step + panels.length) % panels.length]);
    if (!next) return;
    event.preventDefault();
    this.#go(next);
    this.tabs.get(next).focus({ preventScroll: true });
  }
}

/** That of what came last: "waiting" while there is nothing. */
function stateOf(panel) {
  const last = [...panel.querySelectorAll(ENTRIES)].at(-1)?.dataset.state ?? "waiting";
  return { again: "live", reading: "live" }[last] ?? last;
}

function isReadable(panel) {
  return !["waiting", "failed"].includes(stateOf(panel));
}

function isFilled(panel) {
  return panel.querySelector(ENTRIES) !== null;
}

/** Who gave no answer does not review. */
function isLeftOut(panel) {
  if (!panel.id.startsWith("panel-review-") || isFilled(panel)) return false;
  const answers = document.getElementById(panel.id.replace("-review-", "-reply-"));
  return !answers?.querySelector('[data-state="done"], [data-state="truncated"], [data-state="live"]');
}
