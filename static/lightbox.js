/** Links with `data-lightbox` show their picture at its full size in a dialog. Without a script they lead to it. */

const dialog = document.getElementById("lightbox");

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-lightbox]");
  if (!dialog || !link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const words = link.querySelector("img")?.alt ?? "";
  const picture = dialog.querySelector(".lightbox-picture img");
  picture.alt = words;
  picture.src = link.href;
  dialog.querySelector("[data-caption]").textContent = words;
  dialog.showModal();
});
