/** The tokens of an answer: fetched when they are unfolded, one tab stop, and beside it what else could have stood there. */
import { bounds, setBound, share } from "./bands.js";

const LEAST = -9999; // stands for minus infinity
const MOST_LISTED = 100;
const views = new WeakMap(); // the figures of a view, read once

document.addEventListener("toggle", (event) => event.target.matches?.("details[data-tokens]") && unfold(event.target), true);
document.addEventListener("focusin", (event) => tokenAt(event.target) && choose(tokenAt(event.target)));
document.addEventListener("pointerover", (event) => tokenAt(event.target) && describe(tokenAt(event.target)));
document.addEventListener("keydown", walk);
document.addEventListener("click", (event) => jump(event));
document.addEventListener("change", (event) => event.target.matches?.("[data-bound]") && move(event.target));
for (const view of document.querySelectorAll("[data-token-view]")) prepare(view);
for (const fold of document.querySelectorAll("details[data-tokens][open]")) unfold(fold);

function tokenAt(element) {
  return element.closest?.("[data-list] > .tok") ?? null;
}

async function unfold(fold) {
  const place = fold.querySelector("[data-place]");
  if (!fold.open || fold.dataset.state) return;
  fold.dataset.state = "loading";
  place.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(`${fold.dataset.tokens}?part=1`, { redirect: "error" });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    place.innerHTML = await answer.text();
    prepare(place.querySelector("[data-token-view]"));
  } catch {
    delete fold.dataset.state;
    place.textContent = gettext("The tokens could not be loaded. Close and open this to try again.");
  }
  place.removeAttribute("aria-busy");
}

/** `view` is null where there are no probabilities. */
function prepare(view) {
  if (!view) return;
  const figures = JSON.parse(view.querySelector("script").textContent);
  views.set(view, { figures, tokens: [...view.querySelectorAll("[data-list] > .tok")] });
  view.querySelector("[data-bounds]").hidden = false;
  const { high, low } = bounds();
  for (const field of view.querySelectorAll("[data-bound]")) field.value = Math.round(100 * bounds()[field.dataset.bound]);
  if (high !== 0.8 || low !== 0.5) colour(view);
}

/* ---------- Going from token to token ---------- */

function walk(event) {
  const token = tokenAt(event.target);
  if (!token || event.ctrlKey || event.metaKey || event.altKey) return;
  const next = neighbour(token, event.key);
  if (next === undefined) return;
  event.preventDefault();
  next?.focus();
}

/** null: there is none; undefined: the key means nothing here. */
function neighbour(token, key) {
  if (key === "ArrowRight") return token.nextElementSibling;
  if (key === "ArrowLeft") return token.previousElementSibling;
  if (key === "Home") return token.parentNode.firstElementChild;
  if (key === "End") return token.parentNode.lastElementChild;
  if (key === "ArrowDown") return inLine(token, "nextElementSibling");
  if (key === "ArrowUp") return inLine(token, "previousElementSibling");
  return undefined;
}

/** The token above or below: in the first other line, the one nearest to this one's middle. */
function inLine(token, direction) {
  const here = token.getBoundingClientRect();
  const middle = here.left + here.width / 2;
  let line = null;
  let best = null;
  for (let one = token[direction]; one; one = one[direction]) {
    const place = one.getBoundingClientRect();
    if (Math.abs(place.top - here.top) < here.height / 2) continue;
    line ??= place.top;
    if (Math.abs(place.top - line) > here.height / 2) break;
    const away = Math.abs(place.left + place.width / 2 - middle);
    if (!best || away < best.away) best = { one, away };
  }
  return best?.one ?? null;
}

function choose(token) {
  const before = token.parentNode.querySelector('[tabindex="0"]');
  before?.setAttribute("tabindex", "-1");
  before?.removeAttribute("aria-describedby");
  token.setAttribute("tabindex", "0");
  token.setAttribute("aria-describedby", token.closest("[data-token-view]").querySelector("[data-detail]").id);
  describe(token);
}

function jump(event) {
  const link = event.target.closest?.("[data-low-list] a");
  const token = link ? document.getElementById(link.hash.slice(1)) : tokenAt(event.target);
  if (!token) return;
  if (link) event.preventDefault(); // the address stays that of the message
  token.focus({ preventScroll: true });
  if (link) token.scrollIntoView({ block: "center" });
}

/* ---------- What else could have stood there ---------- */

function describe(token) {
  const view = token.closest("[data-token-view]");
  const { figures } = views.get(view);
  const place = Number(token.id.split("-").at(-1));
  const [logprob, alternatives] = figures[place];
  const detail = view.querySelector("[data-detail]");
  view.querySelector(".tok.pointed")?.classList.remove("pointed");
  token.classList.add("pointed");
  detail.replaceChildren(heading(token, logprob), alternatives.length ? table(token, alternatives, logprob) : none());
}

function heading(token, logprob) {
  const words = document.createElement("p");
  words.className = "token-of";
  const name = document.createElement("b");
  name.className = "mono";
  name.textContent = token.textContent;
  const values = document.createElement("span");
  const given = { share: share(probability(logprob)), logprob: logarithm(logprob) };
  values.textContent = logprob === null ? gettext("no probability was sent") : interpolate(gettext("%(share)s · logprob %(logprob)s"), given, true);
  words.append(name, " ", values);
  return words;
}

function table(token, alternatives, logprob) {
  const rows = document.createElement("table");
  rows.className = "alternatives";
  rows.createCaption().textContent = gettext("Most likely here");
  for (const [text, value] of alternatives) {
    const row = rows.insertRow();
    const name = document.createElement("th");
    name.scope = "row";
    name.className = "mono";
    name.textContent = seen(text);
    row.append(name);
    const bar = row.insertCell();
    bar.className = "alternative-bar";
    const filled = bar.appendChild(document.createElement("i"));
    filled.style.width = `${100 * probability(value)}%`;
    row.insertCell().textContent = share(probability(value));
    row.insertCell().textContent = logarithm(value);
    if (value === logprob && seen(text) === token.textContent) row.className = "taken";
  }
  return rows;
}

function none() {
  const words = document.createElement("p");
  words.className = "muted small";
  words.textContent = gettext("No alternatives were sent.");
  return words;
}

function seen(text) {
  return text.replaceAll("\r\n", "\n").replaceAll("\n", "↵\n").replaceAll("\t", "⇥\t") || "∅";
}

function probability(logprob) {
  return logprob === null ? null : Math.exp(Math.min(0, logprob));
}

function logarithm(value) {
  if (value === null) return "–";
  return value <= LEAST ? "−∞" : value.toFixed(3).replace("-", "−");
}

/* ---------- Thresholds ---------- */

function move(field) {
  setBound(field.dataset.bound, Number(field.value) / 100);
  for (const view of document.querySelectorAll("[data-token-view]")) {
    for (const other of view.querySelectorAll("[data-bound]")) other.value = Math.round(100 * bounds()[other.dataset.bound]);
    colour(view);
  }
}

function colour(view) {
  const { high, low } = bounds();
  const names = { high: gettext("high"), middle: gettext("middle"), low: gettext("low") };
  const found = [];
  for (const token of views.get(view).tokens) {
    if (token.dataset.p === undefined) continue;
    const value = Number(token.dataset.p);
    const band = value < low ? "low" : value > high ? "high" : "middle";
    if (band === "low") found.push(token);
    if (token.classList.contains(band)) continue;
    token.classList.remove("high", "middle", "low");
    token.classList.add(band);
    const label = token.getAttribute("aria-label");
    token.setAttribute("aria-label", `${label.slice(0, label.lastIndexOf(", "))}, ${names[band]}`);
  }
  view.querySelector("[data-high]").textContent = `> ${Math.round(100 * high)} %`;
  view.querySelector("[data-low]").textContent = `< ${Math.round(100 * low)} %`;
  list(view, found);
}

function list(view, tokens) {
  const words = ngettext("%(n)s token", "%(n)s tokens", tokens.length);
  view.querySelector("[data-low-count]").textContent = interpolate(words, { n: tokens.length.toLocaleString("en") }, true);
  const items = tokens.slice(0, MOST_LISTED).map((token) => {
    const item = document.createElement("li");
    const link = item.appendChild(document.createElement("a"));
    link.href = `#${token.id}`;
    link.textContent = token.textContent.trim() || token.getAttribute("aria-label").split(":")[0];
    item.append(" ", Object.assign(document.createElement("span"), { className: "muted", textContent: share(Number(token.dataset.p)) }));
    return item;
  });
  view.querySelector("[data-low-list]").replaceChildren(...items);
}
