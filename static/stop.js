/** Stop asks, naming the run, and is sent without leaving the page. Resume loads the page again: it begins a new stretch. */
import { ask } from "./confirm.js";

export function startStop(page, status) {
  const dialog = document.getElementById("stop-dialog");
  page.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.id !== "stop-form") return;
    event.preventDefault();
    if (dialog.open || !(await ask(dialog))) return;
    const answer = await send(form);
    if (answer) status.refresh();
    else if (form.isConnected) form.submit();
  });
}

/** Whether the server took it. A redirect leads to the page on which one signs in: the form goes there as a whole. */
async function send(form) {
  try {
    const options = { method: "POST", body: new FormData(form), headers: { Accept: "application/json" }, redirect: "manual" };
    return (await fetch(form.action, options)).ok;
  } catch {
    return false;
  }
}
