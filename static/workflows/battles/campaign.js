/** The page of a campaign: its state in the title of the tab, and announced when it changes. */
const page = document.getElementById("campaign");
const status = () => document.getElementById("status");
let state = status().dataset.state;

function follow() {
  const { percent, state: now } = status().dataset;
  const names = { percent: `${percent} %`, title: page.dataset.title }; // interpolate leaves "%%" as it is
  document.title = now === "running" ? interpolate(gettext("▶ %(percent)s · %(title)s"), names, true) : names.title;
  if (now !== state) {
    document.getElementById("announcer").textContent = `${names.title}: ${status().querySelector(".state").textContent.trim()}`;
  }
  state = now;
}

document.addEventListener("htmx:afterSwap", follow);
follow();
