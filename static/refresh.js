/** Parts with `data-refresh` are fetched again with the page after the events that they name. */

const PAUSE = 400;

/** Returns what is to be called with the type of each event. */
export function startRefreshing() {
  let timer = null;
  return (type) => {
    const parts = [...document.querySelectorAll("[data-refresh]")].filter((part) => part.dataset.refresh.split(" ").includes(type));
    if (!parts.length) return;
    clearTimeout(timer);
    timer = setTimeout(() => fetchAgain(parts.map((part) => part.id)), PAUSE);
  };
}

async function fetchAgain(ids) {
  const answer = await fetch(location.pathname, { redirect: "error" }).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of ids) {
    const [before, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (before && fresh && !before.contains(document.activeElement)) before.replaceWith(document.adoptNode(fresh));
  }
}
