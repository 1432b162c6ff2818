/** Forms with `data-confirm` ask before they are sent. Without a script they are sent at once. */

/** Resolves to whether the dialog was closed by its "yes" button. */
export function ask(dialog) {
  return new Promise((resolve) => {
    dialog.returnValue = "no";
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    dialog.showModal();
  });
}

export function startConfirmations() {
  const dialog = document.getElementById("confirm");
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!dialog || !form.dataset.confirm) return;
    event.preventDefault();
    dialog.querySelector("h2").textContent = form.dataset.confirm;
    dialog.querySelector("[data-yes]").textContent = form.querySelector("button").firstChild.textContent;
    if (await ask(dialog)) form.submit();
  });
}
