/** The page of a contest: its parts become tabs, counts follow what arrives, and a cycle that is over becomes a line. */

const STEPS = { ArrowLeft: -1, ArrowRight: 1 };
const SOON = 100; // ms in which several events are counted once
const page = document.getElementById("run");
const transcript = document.getElementById("transcript");
let timer = null;

const ratings = startRatings(document.getElementById("ratings-figures"));

startTabs(document.getElementById("contest-tabs"));
page.addEventListener("news", ({ detail }) => {
  if (detail.type === "turn_started") foldEarlier(detail.data.turn);
  if (detail.type === "cycle_rated") ratings.becameOld();
  clearTimeout(timer);
  timer = setTimeout(countAll, SOON);
});
countAll();

// --- parts ---

/** Links to the parts become tabs; the part that is chosen, or that holds what is linked to, is shown. */
function startTabs(list) {
  const tabs = [...list.querySelectorAll("a")];
  const panelOf = (tab) => document.getElementById(tab.hash.slice(1));
  list.setAttribute("role", "tablist");
  for (const tab of tabs) {
    const panel = panelOf(tab);
    tab.id = `tab-${panel.id}`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.removeAttribute("aria-label");
    panel.querySelector(".panel-heading")?.classList.add("sr");
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", tab.hash);
      choose(tab);
    });
  }

  function choose(chosen) {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      panelOf(tab).hidden = tab !== chosen;
    }
    ratings.look();
  }

  function follow() {
    const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    const panel = target?.closest(".contest-panel");
    choose(tabs.find((tab) => panelOf(tab) === panel) ?? tabs[0]);
    if (target && target !== panel) target.scrollIntoView({ block: "start" });
  }

  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(event.target.closest("a"));
    const step = STEPS[event.key];
    const next = { Home: tabs[0], End: tabs.at(-1) }[event.key] ?? (step && tabs[(at + step + tabs.length) % tabs.length]);
    if (!next) return;
    event.preventDefault();
    choose(next);
    next.focus();
  });
  addEventListener("hashchange", follow);
  follow();
}

// --- ratings: computed when somebody wants to see them ---

function startRatings(place) {
  let isOld = Number(place.dataset.rated) > 0;
  place.addEventListener("change", ({ target }) => {
    const line = target.dataset.line && place.querySelector(`.line[data-key="${target.dataset.line}"]`);
    line?.classList.toggle("is-off", !target.checked);
  });

  async function look() {
    if (!isOld || place.closest(".contest-panel").hidden) return;
    isOld = false;
    const answer = await fetch(place.dataset.address, { redirect: "error", cache: "no-store" }).catch(() => null);
    if (answer?.ok) show(await answer.text());
    else isOld = true; // the network is away; the next event, or the next visit to this part, asks again
  }

  function show(html) {
    const off = [...place.querySelectorAll("[data-line]:not(:checked)")].map((box) => box.dataset.line);
    const open = [...place.querySelectorAll("details[open][data-fold]")].map((fold) => fold.dataset.fold);
    place.innerHTML = html;
    for (const fold of place.querySelectorAll("details[data-fold]")) fold.open = open.includes(fold.dataset.fold);
    for (const part of place.querySelectorAll(".needs-script")) part.hidden = false;
    for (const key of off) place.querySelector(`[data-line="${key}"]`)?.click();
  }

  return {
    look,
    becameOld() {
      isOld = true;
      look();
    },
  };
}

// --- counts ---

function countAll() {
  const cycle = [...transcript.querySelectorAll(".cycle")].at(-1);
  const phases = cycle?.querySelector("[data-phases]");
  if (phases) count(cycle, phases);
}

/** The same rule by which the server counts. */
function count(cycle, phases) {
  const all = (selector) => cycle.querySelectorAll(selector).length;
  const isSet = all(".set-slot > *") > 0;
  const outcome = cycle.querySelector("[data-outcome]")?.dataset.outcome;
  const n = all(".coder-card");
  const done = {
    problem: Number(isSet),
    checks: all(".check-slot > *"),
    solutions: all('.solution-slot > :nth-last-child(1 of :not(.judge)):is([data-state="done"], [data-state="failed"])'),
    executed: all(".execution-slot > *"),
    judged: all("td.vote"),
    rated: outcome === "rated" ? cycle.querySelector("[data-overall]").dataset.overall.replace("–", "") : "",
  };
  const of = { problem: 1, checks: null, solutions: n, executed: n, judged: n * (n - 1), rated: null };
  for (const [name, number] of Object.entries(done)) show(phases, name, number, stateOf(name, number, of[name], isSet, outcome));
}

function stateOf(name, done, of, isSet, outcome) {
  if (outcome === "void") return ["problem", "checks"].includes(name) ? "void" : "waiting";
  if (outcome === "rated" || done === of || (name === "checks" && isSet)) return "done";
  if (["problem", "checks"].includes(name)) return name === "problem" || done ? "active" : "waiting";
  return isSet && (name === "solutions" || done) ? "active" : "waiting";
}

function show(phases, name, number, state) {
  const phase = phases.querySelector(`[data-phase="${name}"]`);
  const place = phase.querySelector("[data-done]");
  if (place.textContent !== String(number)) place.textContent = number;
  if (phase.dataset.state === state) return;
  phase.dataset.state = state;
  const words = { waiting: gettext("waits"), active: gettext("under way"), done: gettext("done"), void: gettext("void") };
  phase.querySelector("[data-word]").textContent = words[state];
}

// --- cycles that are over ---

/** Their lines stay; what stood below is on their pages. Somebody who is in the middle of one may finish reading. */
function foldEarlier(turn) {
  for (const cycle of transcript.querySelectorAll(".cycle")) {
    if (Number(cycle.dataset.turn) >= turn || isRead(cycle)) continue;
    cycle.querySelector(".cycle-slot").replaceChildren();
    cycle.dataset.folded = "";
  }
}

function isRead(cycle) {
  const { top, bottom } = cycle.getBoundingClientRect();
  const isInSight = scrollY > 0 && top < innerHeight / 2 && bottom > innerHeight / 2;
  return cycle.contains(document.activeElement) || (isInSight && !document.getElementById("latest").hidden && top < 0);
}
