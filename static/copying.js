/** Copies messages and links to them. Where the clipboard is closed to pages, the buttons are not there. */

export function startCopying(root) {
  document.documentElement.toggleAttribute("data-no-clipboard", !navigator.clipboard);
  if (!navigator.clipboard) return;
  root.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy-from]");
    const link = event.target.closest("a.permalink");
    if (button) await tell(copyFrom(button.dataset.copyFrom), button);
    else if (link) await tell(navigator.clipboard.writeText(link.href), link);
  });
}

/** The text is fetched as it is: what the page shows is rendered. After a redirect it is another page's. A promise keeps the click's permission. */
function copyFrom(address) {
  const text = fetch(address).then((answer) => (answer.ok && !answer.redirected ? answer.blob() : Promise.reject(new Error(answer.statusText))));
  const plain = text.then((blob) => new Blob([blob], { type: "text/plain" }));
  return navigator.clipboard.write([new ClipboardItem({ "text/plain": plain })]);
}

async function tell(copying, element) {
  const words = await copying.then(
    () => gettext("Copied"),
    () => gettext("It could not be copied"),
  );
  document.getElementById("announcer").textContent = words;
  element.dataset.said = words;
  setTimeout(() => delete element.dataset.said, 1500);
}
