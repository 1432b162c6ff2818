/** A chart is one tab stop; the arrow keys go from turn to turn. The turn under the pointer or the focus shows its values. */

let shown = null; // the band whose values are shown

export function startCharts() {
  document.addEventListener("keydown", (event) => {
    const band = bandAt(event.target);
    if (event.key === "Escape" && shown) {
      hide();
      event.preventDefault();
    }
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!band || !step) return;
    event.preventDefault();
    go(band, step);
  });
  for (const type of ["pointerover", "focusin"]) {
    document.addEventListener(type, (event) => bandAt(event.target) && show(bandAt(event.target)));
  }
  for (const type of ["pointerout", "focusout"]) {
    document.addEventListener(type, (event) => bandAt(event.target) === shown && hide());
  }
  addEventListener("scroll", hide, { passive: true, capture: true });
  document.addEventListener("pointermove", () => shown && !shown.isConnected && hide(), { passive: true });
}

function bandAt(element) {
  return element.closest?.(".band") ?? null;
}

function go(band, step) {
  const bands = [...band.parentNode.querySelectorAll(".band")];
  const next = bands[bands.indexOf(band) + step];
  if (!next) return;
  band.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

function show(band) {
  shown = band;
  const tip = place();
  const table = document.createElement("table");
  const values = band.dataset.values.split(" ");
  const lines = [...band.parentNode.querySelectorAll(".line")];
  lines.forEach((line, at) => row(table, `line-${line.dataset.key}`, line.dataset.label, values[at]));
  const turn = document.createElement("div");
  turn.textContent = band.getAttribute("aria-label").split(":")[0];
  tip.replaceChildren(turn, table);
  tip.hidden = false;
  put(tip, band.getBoundingClientRect());
}

function row(table, name, label, value) {
  const cells = table.insertRow();
  const head = document.createElement("th");
  head.className = name;
  head.textContent = label;
  cells.append(head);
  cells.insertCell().textContent = value;
}

/** Beside the band, where there is room. */
function put(tip, band) {
  const { width, height } = tip.getBoundingClientRect();
  const left = band.right + 8 + width < innerWidth ? band.right + 8 : band.left - 8 - width;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(band.top, innerHeight - height - 4))}px`;
}

function hide() {
  shown = null;
  place().hidden = true;
}

function place() {
  let tip = document.getElementById("tip");
  if (!tip) {
    tip = document.createElement("div");
    tip.id = "tip";
    tip.className = "tip";
    tip.hidden = true;
    tip.setAttribute("aria-hidden", "true"); // the band's own name says the same
    document.body.append(tip);
  }
  return tip;
}
