/** Pause, go on, mode and the number of turns: sent without leaving the page. The status bar then says what is. */
import { notify, trouble } from "./notices.js";
import { send } from "./send.js";

export function startSteering(page, status) {
  let isBusy = false;
  page.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!("quiet" in form.dataset)) return;
    event.preventDefault();
    if (isBusy) return;
    isBusy = true;
    const words = trouble(await send(form, event.submitter));
    isBusy = false;
    if (words) notify(words);
    else form.closest("details")?.removeAttribute("open");
    status.refresh();
  });
}
