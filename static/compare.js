/** Runs side by side: columns that scroll together unless that is switched off, and `n p` from difference to difference. */
import { isOn, setOn } from "./preferences.js";
import { startTabs } from "./tabs.js";

const SMALL = matchMedia("(max-width: 799px)");
const HEAD = 48; // the columns' own headings stand above what is scrolled to
const PREFERENCE = "together";

const columns = [...document.querySelectorAll(".compare-column")];
const rowsOf = new Map(columns.map((column) => [column, [...column.querySelectorAll(".compared")]]));
const differences = columns.length ? rowsOf.get(columns[0]).filter((row) => "differs" in row.dataset) : [];
let place = -1;
let driver = null; // the column that the reader scrolls; the others follow

if (columns.length) start();

function start() {
  document.getElementById("compare-bar").hidden = false;
  startTabs(document.getElementById("compare-tabs"), () => {}, 0);
  startTogether(document.getElementById("scroll-together"));
  document.getElementById("next-difference").addEventListener("click", () => go(1));
  document.getElementById("previous-difference").addEventListener("click", () => go(-1));
  document.addEventListener("keydown", (event) => {
    const step = { n: 1, p: -1 }[event.key];
    if (!step || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!isOn("keys") || document.querySelector("dialog[open]")) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    if (go(step)) event.preventDefault();
  });
}

function startTogether(box) {
  box.checked = isOn(PREFERENCE);
  box.addEventListener("change", () => setOn(PREFERENCE, box.checked));
  for (const column of columns) {
    for (const sign of ["pointerenter", "pointerdown", "wheel", "touchstart", "focusin", "keydown"]) {
      column.addEventListener(sign, () => (driver = column), { passive: true });
    }
    column.addEventListener("scroll", () => column === driver && box.checked && !SMALL.matches && follow(column), { passive: true });
  }
}

/** The others show the same row at the same share of its height. */
function follow(column) {
  const rows = rowsOf.get(column);
  const top = column.scrollTop + HEAD;
  const number = Math.max(0, rows.findIndex((row) => row.offsetTop + row.offsetHeight > top));
  const share = (top - rows[number].offsetTop) / (rows[number].offsetHeight || 1);
  for (const other of columns) {
    const row = rowsOf.get(other)[number];
    if (other !== column) other.scrollTop = row.offsetTop + share * row.offsetHeight - HEAD;
  }
}

function go(step) {
  const next = place < 0 && step < 0 ? differences.length - 1 : place + step;
  if (!differences[next]) return false;
  place = next;
  show(rowsOf.get(columns[0]).indexOf(differences[place]));
  const words = interpolate(gettext("Difference %(n)s of %(of)s"), { n: place + 1, of: differences.length }, true);
  document.getElementById("compare-place").textContent = words;
  document.getElementById("announcer").textContent = words;
  return true;
}

function show(number) {
  driver = null;
  for (const row of document.querySelectorAll(".compared.current")) row.classList.remove("current");
  const shown = columns.filter((column) => column.checkVisibility());
  for (const column of columns) {
    const row = rowsOf.get(column)[number];
    row.classList.add("current");
    if (!SMALL.matches) column.scrollTop = row.offsetTop - HEAD;
  }
  const row = rowsOf.get(shown.find((column) => column.contains(document.activeElement)) ?? shown[0])[number];
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: SMALL.matches ? "center" : "nearest" });
  driver = null;
}
