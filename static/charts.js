/** A chart is one tab stop; the arrow keys go from turn to turn, and the turn with the focus shows its values. */

export function startCharts() {
  document.addEventListener("keydown", (event) => {
    const band = event.target.closest?.(".band");
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!band || !step) return;
    const bands = [...band.parentNode.querySelectorAll(".band")];
    const next = bands[bands.indexOf(band) + step];
    if (!next) return;
    event.preventDefault();
    band.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}
