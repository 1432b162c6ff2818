/** The way round a blocked WebSocket: asks every few seconds what has happened since. */

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
    const hasMore = await fetchOnce();
    isAsking = false;
    if (news.isOn) timer = setTimeout(ask, hasMore ? 0 : EVERY);
  }

  /** Whether there is more to be asked for now. A page that nobody looks at asks nothing. */
  async function fetchOnce() {
    if (document.visibilityState === "hidden") return false;
    try {
      const answer = await fetch(`/runs/${run}/news/?after=${cursor()}`, { redirect: "manual", cache: "no-store" });
      if (answer.type === "opaqueredirect" || answer.status === 404) {
        onSignedOut();
        return false;
      }
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const found = await answer.json();
      if (news.isOn) onNews(found);
      return found.more;
    } catch {
      if (news.isOn) onAway();
      return false;
    }
  }

  return news;
}
