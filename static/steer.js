/** What people do to a run without leaving its page. The status bar then says what is. */
import { ask } from "./confirm.js";
import { notify, send, trouble } from "./requests.js";

/** Pause, go on, mode and the number of turns. */
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

/** Stop asks, naming the run. Where the server asks to sign in, the form goes there as a whole. Resume loads the page again: it begins a new stretch. */
export function startStop(page, status) {
  const dialog = document.getElementById("stop-dialog");
  page.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.id !== "stop-form") return;
    event.preventDefault();
    if (dialog.open || !(await ask(dialog))) return;
    const answer = await send(form);
    if (answer.status === 200) status.refresh();
    else if (form.isConnected) form.submit();
  });
}
