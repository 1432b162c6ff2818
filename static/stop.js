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

/** Whether the server took it; its redirect to this page is not followed. */
async function send(form) {
  try {
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form), redirect: "manual" });
    return answer.ok || answer.type === "opaqueredirect";
  } catch {
    return false;
  }
}
