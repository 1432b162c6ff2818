/** What set-up forms share: badges beside chosen models, folded lines that say what is set, one submit, Ctrl+Enter. */

export function showBadges(select) {
  const option = select.selectedOptions[0];
  const simulated = select.parentNode.querySelector("[data-badge=simulated]");
  const provider = select.parentNode.querySelector("[data-badge=provider]");
  if (!option || !simulated) return;
  simulated.hidden = option.dataset.simulated === undefined;
  provider.hidden = !option.dataset.provider || !simulated.hidden;
  provider.textContent = option.dataset.provider ?? "";
}

/** Parts that apply only while a box is ticked, or in one mode. */
export function showWhatApplies(form) {
  const field = (name) => form.elements.namedItem(name);
  for (const part of form.querySelectorAll("[data-needs]")) part.hidden = !field(part.dataset.needs).checked;
  for (const part of form.querySelectorAll("[data-in-mode]")) part.hidden = field("mode").value !== part.dataset.inMode;
}

/** What a field is set to, where its folded group is named: the words of a choice, or the text itself. */
export function sayChoices(form) {
  for (const place of form.querySelectorAll("[data-of]")) {
    const { value, selectedOptions } = form.elements.namedItem(place.dataset.of);
    place.textContent = (value && selectedOptions ? selectedOptions[0].textContent : value.trim()) || place.dataset.default;
  }
}

export function sayLengths(form) {
  for (const place of form.querySelectorAll("[data-length-of]")) {
    const { length } = form.elements.namedItem(place.dataset.lengthOf).value;
    const words = ngettext("%(n)s character", "%(n)s characters", length);
    place.textContent = length ? interpolate(words, { n: length.toLocaleString("en") }, true) : place.dataset.default;
  }
}

/** Calls `update` now and whenever something changes; a browser restores fields after "back" without an event. */
export function keepUpToDate(form, update) {
  form.addEventListener("input", update);
  form.addEventListener("change", update);
  addEventListener("pageshow", update);
  update();
}

/** A second click sends nothing. */
export function submitOnce(form) {
  let isSent = false;
  form.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  });
  addEventListener("pageshow", () => (isSent = false));
}

export function startOnCtrlEnter(form) {
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    form.requestSubmit();
  });
}
