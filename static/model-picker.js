/** A choice among models that can be searched: `<model-picker data-menu="ADDRESS">` around a `<select>`, which keeps the
 * value and stands there without a script. What is known of each model is fetched when the first picker is opened.
 */
const RECENT = "arena-recent-models";
const FAVORITES = "arena-favorite-models";
const MOST_RECENT = 5;
let menu; // what is known of each model, by its slug, once it has been asked for
let count = 0;

function stored(place) {
  try {
    return JSON.parse(localStorage.getItem(place)) ?? [];
  } catch {
    return [];
  }
}

function store(place, slugs) {
  try {
    localStorage.setItem(place, JSON.stringify(slugs));
  } catch {
    // a browser that stores nothing shows no recent models and no favorites
  }
}

function remember(slug) {
  store(RECENT, [slug, ...stored(RECENT).filter((one) => one !== slug)].slice(0, MOST_RECENT));
}

function star(isFavorite) {
  const attributes = isFavorite ? { role: "img", "aria-label": gettext("Favorite") } : { "aria-hidden": "true" };
  return element("span", { class: "picker-star", ...attributes }, isFavorite ? "★" : "☆");
}

async function known(address) {
  menu ??= fetch(address).then((answer) => (answer.ok ? answer.json() : {}));
  try {
    return await menu;
  } catch {
    menu = undefined;
    return {};
  }
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function sizeOf(tokens) {
  return interpolate(gettext("%(n)sk context"), { n: Math.round(tokens / 1000).toLocaleString("en") }, true);
}

function facts({ price, context, accepts }) {
  const cost = price ? interpolate(gettext("$%(input)s in, $%(output)s out"), { input: price[0], output: price[1] }, true) : gettext("Unknown price");
  return [cost, ...(context ? [sizeOf(context)] : []), ...accepts].join(" · ");
}

class ModelPicker extends HTMLElement {
  connectedCallback() {
    if (this.button) return; // it was moved
    this.select = this.querySelector("select");
    this.select.tabIndex = -1;
    this.select.setAttribute("aria-hidden", "true");
    this.number = count++;
    const label = this.select.labels[0];
    label.id ||= `picker-${this.number}-label`;
    this.button = element("button", { type: "button", class: "picked", "aria-haspopup": "listbox", "aria-expanded": "false" });
    this.button.id = `picker-${this.number}`;
    this.button.setAttribute("aria-labelledby", `${label.id} ${this.button.id}`);
    for (const name of ["aria-describedby", "aria-invalid"]) {
      if (this.select.hasAttribute(name)) this.button.setAttribute(name, this.select.getAttribute(name));
    }
    this.append(this.button);
    this.button.addEventListener("mousedown", (event) => this.popup && event.preventDefault()); // the click closes it
    this.button.addEventListener("click", () => (this.popup ? this.close() : this.open()));
    this.button.addEventListener("keydown", (event) => {
      if (!["ArrowDown", "ArrowUp"].includes(event.key) || this.popup) return;
      event.preventDefault();
      this.open();
    });
    this.select.addEventListener("focus", () => this.button.focus());
    this.select.addEventListener("change", () => this.show());
    addEventListener("pageshow", () => this.show()); // a browser restores fields after "back" without an event
    this.show();
  }

  /** What is chosen, on the button. */
  show() {
    const option = this.select.selectedOptions[0];
    const { provider = "", simulated } = option?.dataset ?? {};
    const name = element("span", { class: "picked-name" }, option?.textContent ?? gettext("none"));
    const side = simulated === undefined ? element("span", { class: "muted small" }, provider) : element("span", { class: "badge simulated" }, gettext("Simulated"));
    this.button.replaceChildren(name, side);
  }

  async open() {
    this.search = element("input", {
      type: "search",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": gettext("Search models"),
      placeholder: gettext("Search by name, provider or capability"),
      "aria-autocomplete": "list",
      "aria-expanded": "true",
      "aria-controls": `picker-${this.number}-list`,
      "aria-describedby": `picker-${this.number}-hint`,
    });
    this.list = element("div", { role: "listbox", class: "picker-list", id: `picker-${this.number}-list`, "aria-label": gettext("Models") });
    this.said = element("p", { class: "muted picker-said", role: "status" });
    const hint = element("p", { class: "hint", id: `picker-${this.number}-hint` }, gettext("Ctrl+D adds or removes a favorite."));
    this.popup = element("div", { class: "picker-popup" }, this.search, this.list, this.said, hint);
    this.fill();
    this.append(this.popup);
    this.activate(this.rows.find((row) => row.dataset.value === this.select.value) ?? this.rows[0]);
    this.place();
    this.button.setAttribute("aria-expanded", "true");
    this.search.focus();
    this.listen();
    const details = await known(this.dataset.menu);
    if (!this.popup) return;
    for (const row of this.rows) this.describe(row, details[row.dataset.value]);
    this.filter();
  }

  listen() {
    for (const name of ["input", "change"]) this.popup.addEventListener(name, (event) => event.stopPropagation());
    this.search.addEventListener("input", () => this.filter());
    this.popup.addEventListener("keydown", (event) => this.pressed(event));
    this.popup.addEventListener("mousedown", (event) => event.target !== this.search && event.preventDefault()); // focus stays
    this.list.addEventListener("click", ({ target }) => {
      const row = target.closest("[role=option]");
      if (target.matches(".picker-star")) this.star(row);
      else this.choose(row);
    });
    this.search.addEventListener("blur", () => document.hasFocus() && this.close({ focus: false }));
  }

  /** Below the button; above it, or to its left, where there is more room. */
  place() {
    const button = this.button.getBoundingClientRect();
    const popup = this.popup.getBoundingClientRect();
    this.popup.classList.toggle("above", innerHeight - button.bottom < popup.height && button.top > innerHeight - button.bottom);
    this.popup.classList.toggle("to-left", popup.right > document.documentElement.clientWidth);
  }

  fill() {
    const options = [...this.select.options];
    this.favorites = stored(FAVORITES);
    const recent = stored(RECENT).filter((slug) => !this.favorites.includes(slug));
    for (const [label, slugs] of [[gettext("Favorites"), this.favorites], [gettext("Recently used"), recent]]) {
      const found = slugs.flatMap((slug) => options.filter((option) => option.value === slug && !option.disabled));
      if (found.length) this.list.append(this.group(label, found));
    }
    const plain = options.filter((option) => option.parentNode === this.select);
    for (const option of plain) this.list.append(this.row(option));
    for (const group of this.select.querySelectorAll("optgroup")) this.list.append(this.group(group.label, [...group.children]));
    this.rows = [...this.list.querySelectorAll("[role=option]")];
    this.rows.forEach((row, at) => (row.id = `picker-${this.number}-${at}`));
  }

  group(label, options) {
    const title = element("div", { class: "picker-title", "aria-hidden": "true" }, label);
    return element("div", { role: "group", "aria-label": label }, title, ...options.map((option) => this.row(option)));
  }

  row(option) {
    const isChosen = option.value === this.select.value;
    const row = element("div", { role: "option", "aria-selected": String(isChosen), "data-value": option.value });
    row.append(element("span", { class: "picker-name" }, option.textContent), element("span", { class: "picker-facts muted small" }));
    if (option.disabled) row.setAttribute("aria-disabled", "true");
    else if (option.value) row.append(star(this.favorites.includes(option.value)));
    row.words = `${option.textContent} ${option.value} ${option.dataset.provider ?? ""}`.toLowerCase();
    return row;
  }

  describe(row, details) {
    if (!details) return;
    row.querySelector(".picker-facts").textContent = facts(details);
    row.words += ` ${details.accepts.join(" ")}`.toLowerCase();
  }

  get shown() {
    return this.rows.filter((row) => !row.hidden && row.ariaDisabled !== "true");
  }

  /** Rows with all the words that were typed. */
  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of this.rows) row.hidden = !words.every((word) => row.words.includes(word));
    for (const group of this.list.querySelectorAll("[role=group]")) group.hidden = !group.querySelector("[role=option]:not([hidden])");
    const { shown } = this;
    this.said.textContent = shown.length ? "" : gettext("No model matches.");
    if (this.active?.hidden || !this.active) this.activate(shown[0]);
  }

  activate(row) {
    this.active?.classList.remove("active");
    this.active = row;
    if (!row) this.search.removeAttribute("aria-activedescendant");
    else {
      row.classList.add("active");
      this.search.setAttribute("aria-activedescendant", row.id);
      row.scrollIntoView({ block: "nearest" });
    }
  }

  pressed(event) {
    event.stopPropagation();
    const { shown } = this;
    const at = shown.indexOf(this.active);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 8, PageUp: at - 8 }[event.key];
    if (to !== undefined) this.activate(shown[Math.max(0, Math.min(shown.length - 1, to))]);
    else if ((event.ctrlKey || event.metaKey) && event.key === "d") this.star(this.active);
    else if (event.key === "Enter" && !event.isComposing) this.choose(this.active);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }

  /** Makes a model a favorite, or one no longer. The rows stay where they are until the list is opened again. */
  star(row) {
    const slug = row?.dataset.value;
    if (!slug) return;
    const others = stored(FAVORITES).filter((one) => one !== slug);
    const isFavorite = !this.favorites.includes(slug);
    this.favorites = isFavorite ? [...others, slug] : others;
    store(FAVORITES, this.favorites);
    for (const one of this.rows) if (one.dataset.value === slug) one.lastChild.replaceWith(star(isFavorite));
    const words = isFavorite ? gettext("%(model)s is now a favorite.") : gettext("%(model)s is no longer a favorite.");
    this.said.textContent = interpolate(words, { model: row.firstChild.textContent }, true);
  }

  choose(row) {
    if (!row || row.ariaDisabled === "true") return;
    this.select.value = row.dataset.value;
    if (row.dataset.value) remember(row.dataset.value);
    this.close();
    for (const name of ["input", "change"]) this.select.dispatchEvent(new Event(name, { bubbles: true }));
  }

  close({ focus = true } = {}) {
    const { popup } = this;
    this.popup = this.active = undefined;
    popup?.remove();
    this.button.setAttribute("aria-expanded", "false");
    if (focus) this.button.focus();
  }
}

customElements.define("model-picker", ModelPicker);
