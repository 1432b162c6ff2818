/**
 * What happens in a run, as it happens: a WebSocket that knows where it is, takes events in order, asks again after
 * gaps and silences, and comes back when cut off. Where no WebSocket gets through, the page asks every few seconds.
 */
import { fetchText } from "./requests.js";

const SIGNED_OUT = 4401;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8000;
const SILENCE = 20000;
const FLAT_AFTER = 5000; // a connection that held this long lets the pauses begin anew
const OPENING = 10000; // a proxy that swallows the handshake neither opens nor closes
const BLOCKED_AFTER = 2; // connections in a row that never opened

/**
 * after: the number of the last event that the page shows.
 * onConnection gets "connecting", "live", "polling", "reconnecting" or "signed-out".
 */
export function openSocket({ run, after, language, onEvent, onDelta, onConnection }) {
  let cursor = after;
  let failures = 0;
  let unopened = 0;
  let socket = null;
  let quiet = null;
  let reopen = null;
  const news = openNews({
    run,
    cursor: () => cursor,
    onNews: takeNews,
    onAway: () => onConnection("reconnecting"),
    onSignedOut: signOut,
  });

  function open() {
    clearTimeout(reopen);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const opened = Date.now();
    let wasOpen = false;
    try {
      socket = new WebSocket(`${scheme}://${location.host}/ws/runs/${run}/?after=${cursor}&html=1&language=${language}`);
    } catch {
      socket = null; // forbidden by the browser or an extension
      lost(opened, false);
      return;
    }
    const here = socket;
    const patience = setTimeout(() => here.close(), OPENING);
    here.onopen = () => {
      wasOpen = true;
      unopened = 0;
      clearTimeout(patience);
      news.stop();
      onConnection("live");
      listen();
    };
    here.onmessage = (message) => {
      listen();
      take(JSON.parse(message.data));
    };
    here.onclose = (event) => {
      clearTimeout(quiet);
      clearTimeout(patience);
      if (event.code === SIGNED_OUT) signOut();
      else lost(opened, wasOpen);
    };
  }

  function lost(opened, wasOpen) {
    if (Date.now() - opened > FLAT_AFTER) failures = 0;
    unopened = wasOpen ? 0 : unopened + 1;
    if (unopened >= BLOCKED_AFTER) news.start();
    if (!news.isOn) onConnection("reconnecting");
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** failures++);
    reopen = setTimeout(open, pause * (0.75 + Math.random() / 2));
  }

  function signOut() {
    clearTimeout(reopen);
    news.stop();
    onConnection("signed-out");
  }

  function listen() {
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      sync();
      listen();
    }, SILENCE);
  }

  function take(envelope) {
    if (envelope.type === "message_stream") {
      onDelta(envelope.data);
    } else if (envelope.seq === cursor + 1) {
      cursor = envelope.seq;
      onEvent(envelope);
    } else if (envelope.seq > cursor) {
      sync();
    }
  }

  function takeNews({ events, partials }) {
    onConnection("polling");
    for (const envelope of events) take(envelope);
    for (const data of partials) onDelta(data);
  }

  function sync() {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "sync", after: cursor }));
    else if (news.isOn) news.ask();
  }

  const isClosed = () => !socket || socket.readyState === WebSocket.CLOSED;

  // A phone that slept, or a network that changed, does not wait for the next pause to end.
  addEventListener("online", () => isClosed() && open());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") return;
    if (isClosed()) open();
    else sync();
  });

  onConnection("connecting");
  open();
  return { sync };
}

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
