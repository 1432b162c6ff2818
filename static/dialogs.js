/** Links with `data-dialog` show the form of their page in a dialog. Without a script they lead to the page. */

const PLACE = "[data-dialog-content]";

export function startDialogs() {
  const dialog = document.getElementById("page-dialog");
  if (!dialog) return;
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-dialog]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const form = await fetched(link.href);
    if (!form) location.assign(link.href);
    else show(dialog, form);
  });
}

async function fetched(address) {
  try {
    const answer = await fetch(address, { redirect: "error" });
    if (!answer.ok) return null;
    return new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(PLACE);
  } catch {
    return null;
  }
}

function show(dialog, form) {
  if (form.querySelector("model-picker")) import("./model-picker.js");
  dialog.querySelector("[data-content]").replaceChildren(form);
  form.querySelector("[data-close]")?.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.showModal();
  (form.querySelector("textarea") ?? form.querySelector("select, input"))?.focus();
}
