/** Rows that are added, removed and moved up: `<row-list>` around `[data-list]`, `<template data-blank>` and `[data-add]`.
 *
 * A row that says nothing (no `[data-tells]` in it has a value) need not stand there with a script. `data-distinct`: what
 * is chosen in one row cannot be chosen in another. The server takes the rows in the order in which they stand.
 */
const NUMBER = "__NUMBER__";

class RowList extends HTMLElement {
  connectedCallback() {
    this.list = this.querySelector("[data-list]");
    this.adder = this.querySelector("[data-add]");
    this.least = Number(this.dataset.least);
    this.next = this.rows.length;
    for (const row of this.rows) if (!this.isFilled(row) && this.rows.length > this.least) row.remove();
    this.adder.addEventListener("click", () => this.add());
    this.list.addEventListener("click", (event) => this.clicked(event.target));
    this.addEventListener("input", () => this.update());
    this.addEventListener("change", () => this.update());
    this.update();
  }

  get rows() {
    return [...this.list.children];
  }

  tells(row) {
    return [...row.querySelectorAll("[data-tells]")];
  }

  isFilled(row) {
    return this.tells(row).some((field) => field.value.trim());
  }

  add() {
    const template = document.createElement("template");
    template.innerHTML = this.querySelector("template").innerHTML.replaceAll(NUMBER, this.next++);
    const row = template.content.firstElementChild;
    const [first] = this.tells(row);
    if (first.matches("select")) choose(first, this.chosen());
    this.list.append(row);
    this.changed();
    row.querySelector("select, input, textarea").focus();
  }

  clicked(target) {
    const row = target.closest("[data-row]");
    if (target.closest("[data-up]")) {
      row.previousElementSibling.before(row);
      this.changed();
      (row.previousElementSibling ? row.querySelector("[data-up]") : row.querySelector("select, input")).focus();
    }
    if (target.closest("[data-remove]")) {
      const neighbour = row.nextElementSibling ?? row.previousElementSibling;
      row.remove();
      this.changed();
      (neighbour?.querySelector("[data-remove]:enabled") ?? this.adder).focus();
    }
  }

  changed() {
    this.dispatchEvent(new Event("change", { bubbles: true }));
  }

  chosen() {
    return this.rows.flatMap((row) => this.tells(row).map((field) => field.value)).filter(Boolean);
  }

  update() {
    const chosen = this.chosen();
    this.rows.forEach((row, at) => {
      for (const place of row.querySelectorAll("[data-number]")) place.textContent = at + 1;
      row.querySelector("[data-remove]").disabled = this.rows.length <= this.least;
      const up = row.querySelector("[data-up]");
      if (up) up.disabled = at === 0;
      if ("distinct" in this.dataset) for (const field of this.tells(row)) offerOnce(field, chosen);
    });
    this.adder.disabled = this.rows.length >= Number(this.dataset.most ?? Infinity);
    const count = this.querySelector("[data-count]");
    if (count) count.textContent = this.rows.filter((row) => this.isFilled(row)).length;
  }
}

/** A model that no other row has, as far as there is one. */
function choose(select, chosen) {
  const offered = [...select.options].filter((option) => option.value);
  select.value = (offered.find((option) => !chosen.includes(option.value)) ?? offered[0])?.value ?? "";
}

function offerOnce(select, chosen) {
  for (const option of select.options) option.disabled = Boolean(option.value) && option.value !== select.value && chosen.includes(option.value);
}

customElements.define("row-list", RowList);
