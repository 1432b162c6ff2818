/** A WebSocket that knows where it is: takes events in order, asks again after gaps and silences, comes back when cut off. */

const SIGNED_OUT = 4401;
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 8000;
const SILENCE = 20000;
const FLAT_AFTER = 5000; // a connection that held this long lets the pauses begin anew

/**
 * after: the number of the last event that the page shows.
 * onConnection gets "connecting", "live", "reconnecting" or "signed-out".
 */
export function openSocket({ run, after, language, onEvent, onDelta, onConnection }) {
  let cursor = after;
  let failures = 0;
  let socket = null;
  let quiet = null;
  let reopen = null;

  function open() {
    clearTimeout(reopen);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}/ws/runs/${run}/?after=${cursor}&html=1&language=${language}`);
    const opened = Date.now();
    socket.onopen = () => {
      onConnection("live");
      listen();
    };
    socket.onmessage = (message) => {
      listen();
      take(JSON.parse(message.data));
    };
    socket.onclose = (event) => {
      clearTimeout(quiet);
      if (event.code === SIGNED_OUT) {
        onConnection("signed-out");
        return;
      }
      if (Date.now() - opened > FLAT_AFTER) failures = 0;
      onConnection("reconnecting");
      const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** failures++);
      reopen = setTimeout(open, pause * (0.75 + Math.random() / 2));
    };
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

  function sync() {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "sync", after: cursor }));
  }

  // A phone that slept, or a network that changed, does not wait for the next pause to end.
  addEventListener("online", () => socket.readyState === WebSocket.CLOSED && open());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") return;
    if (socket.readyState === WebSocket.CLOSED) open();
    else sync();
  });

  onConnection("connecting");
  open();
  return { sync };
}
