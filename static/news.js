/** The way round a blocked WebSocket: asks every few seconds what has happened since. */
import { fetchText } from "./asking.js";

const EVERY = 3000;

/**
 * cursor: gives the number of the last event that is known. onAway: no answer came, the next question is asked all the
 * same. `start` begins to ask, `stop` ends it.
 */
export function openNews({ run, cursor, onNews, onAway, onSignedOut }) {
  let timer = null;
  let isAsking = false;

  const news = {
    isOn: false,
    start() {
      if (news.isOn) return;
      news.isOn = true;
      ask();
    },
    stop() {
      news.isOn = false;
      clearTimeout(timer);
    },
    ask,
  };

  async function ask() {
    if (isAsking) return;
    isAsking = true;
    clearTimeout(timer);
    const hasMore = await fetchOnce().catch(() => onAway());
    isAsking = false;
    if (news.isOn) timer = setTimeout(ask, hasMore ? 0 : EVERY);
  }

  /** Whether there is more to be asked for now. A page that nobody looks at asks nothing. */
  async function fetchOnce() {
    if (document.visibilityState === "hidden") return false;
    const fetched = await fetchText(`/runs/${run}/news/?after=${cursor()}`, { redirect: "manual" });
    if (fetched?.answer.type === "opaqueredirect" || fetched?.answer.status === 404) {
      onSignedOut();
      return false;
    }
    const found = fetched?.answer.ok ? parsed(fetched.text) : null;
    if (news.isOn && found) onNews(found);
    else if (news.isOn) onAway();
    return Boolean(found?.more);
  }

  return news;
}

/** Null for what is no JSON: a page of something in between, such as the sign-in of a network. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
