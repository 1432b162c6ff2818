/** Full screen reading: the talk alone, under a slim line that says how the run stands. */

export function startReading() {
  const root = document.documentElement;
  const head = document.getElementById("reading-head");
  const enter = document.getElementById("enter-reading");
  const leave = document.getElementById("leave-reading");
  const talk = document.getElementById("tab-talk");
  if (!head || !enter) return;

  function set(isOn) {
    if (isOn && talk?.getAttribute("aria-selected") === "false") talk.click();
    const before = place();
    root.toggleAttribute("data-reading", isOn);
    head.hidden = !isOn;
    restore(before);
    (isOn ? leave : enter).focus({ preventScroll: true });
    document.getElementById("announcer").textContent = isOn ? gettext("Full screen reading") : gettext("Back to the whole page");
  }

  enter.addEventListener("click", () => set(true));
  leave.addEventListener("click", () => set(false));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || !root.hasAttribute("data-reading")) return;
    if (document.querySelector("dialog[open]") || event.target.closest?.("textarea, input, select")) return;
    event.preventDefault();
    set(false);
  });
}

/** What the reader sees stays where it is. */
function place() {
  const items = [...document.querySelectorAll("#transcript > *")];
  const element = items.find((item) => item.getBoundingClientRect().bottom > innerHeight / 3) ?? items.at(-1);
  return { element, top: element?.getBoundingClientRect().top };
}

function restore({ element, top }) {
  if (element) scrollBy({ top: element.getBoundingClientRect().top - top, behavior: "instant" });
}
