/** Parts of a page that htmx fetches again, as long as they have `hx-trigger`. idiomorph merges what comes: focus,
 * scrolling and unfolded details stay.
 *
 * data-held: nothing is fetched now. data-away: the element that is shown while the server does not answer.
 * data-reload: the page is loaded again when the part is finished.
 */
import { localise } from "./times.js";

const on = (name, handle) => document.addEventListener(`htmx:${name}`, handle);
let hadFocus = false;

Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) => name !== "open" || element.localName !== "details";

on("beforeRequest", (event) => {
  const part = event.detail.elt;
  if (document.visibilityState === "hidden" || "held" in part.dataset) event.preventDefault();
});

on("afterRequest", ({ detail }) => {
  const away = document.getElementById(detail.elt.dataset.away);
  if (away) away.hidden = detail.successful;
});

/** A redirect leads to the sign-in page. That, and what is gone, is seen by loading the page again. */
on("beforeSwap", ({ detail }) => {
  const { target, xhr, requestConfig, serverResponse } = detail;
  const isMoved = xhr.responseURL && new URL(xhr.responseURL).pathname !== new URL(requestConfig.path, location.href).pathname;
  const isGone = xhr.status === 404 || (xhr.status === 200 && !serverResponse.includes(`id="${target.id}"`));
  if (isMoved) detail.shouldSwap = false;
  if (requestConfig.verb === "get" && (isMoved || isGone)) {
    detail.shouldSwap = false;
    location.reload();
  }
  hadFocus = target.contains(document.activeElement);
});

on("afterSwap", ({ detail }) => {
  const part = document.getElementById(detail.target.id);
  localise(part);
  if (hadFocus && document.activeElement === document.body) part.querySelector("button:not(:disabled), a")?.focus({ preventScroll: true });
  if (!part.hasAttribute("hx-trigger")) finish(part);
});

function finish(part) {
  if ("reload" in part.dataset) location.reload();
  const download = part.querySelector("[data-download]");
  if (!download) return;
  document.getElementById("announcer").textContent = gettext("The file is ready.");
  location.assign(download.href);
}

document.addEventListener("visibilitychange", () => {
  for (const part of document.querySelectorAll("[hx-trigger]")) htmx.trigger(part, "look");
});

for (const button of document.querySelectorAll("[data-holds]")) {
  const part = () => document.getElementById(button.dataset.holds);
  button.hidden = false;
  button.addEventListener("click", () => {
    const isHeld = part().toggleAttribute("data-held");
    button.setAttribute("aria-pressed", String(isHeld));
    if (!isHeld) htmx.trigger(part(), "look");
  });
}
