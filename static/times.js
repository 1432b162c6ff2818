/** Moments are written in UTC by the server; a reader sees them in their own time zone, with UTC on hover. */

const CLOCK = new Intl.DateTimeFormat("sv-SE", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const FULL = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });
const SHORT = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });
const FORMATS = { time: CLOCK, full: FULL, short: SHORT };

/** Rewrites each `<time data-local>` below `root`. "sv-SE" writes dates as ISO 8601 does, in every language of the page. */
export function localise(root) {
  for (const time of root.querySelectorAll("time[data-local]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    time.title = moment.toISOString();
    time.textContent = FORMATS[time.dataset.local].format(moment);
  }
}
