/** Parts with `data-refresh` are fetched again with the page after the events that they name. */

const PAUSE = 400;

/** Returns what is to be called with the type of each event. */
export function startRefreshing() {
  const wanted = new Set();
  let timer = null;
  const soon = (...ids) => {
    for (const id of ids) wanted.add(id);
    clearTimeout(timer);
    timer = setTimeout(() => {
      fetchAgain([...wanted], soon);
      wanted.clear();
    }, PAUSE);
  };
  return (type) => {
    const parts = [...document.querySelectorAll("[data-refresh]")].filter((part) => part.dataset.refresh.split(" ").includes(type));
    if (parts.length) soon(...parts.map((part) => part.id));
  };
}

/** A part that somebody is in stays until they leave it: later is then called with its id. */
async function fetchAgain(ids, later) {
  const answer = await fetch(location.pathname, { redirect: "error" }).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of ids) {
    const [before, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (!before || !fresh) continue;
    if (before.contains(document.activeElement)) before.addEventListener("focusout", () => later(id), { once: true });
    else before.replaceWith(document.adoptNode(fresh));
  }
}
