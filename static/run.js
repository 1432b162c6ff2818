/** The page of a run: joins the socket, the transcript, the live text and the status bar. */
import { Follower } from "./follow.js";
import { announce, insert, removeEnding } from "./transcript.js";
import { openSocket } from "./socket.js";
import { StatusBar } from "./status.js";
import { LiveText } from "./stream.js";
import { startStop } from "./stop.js";
import { startTabs } from "./tabs.js";

const page = document.getElementById("run");
const follower = new Follower(document.getElementById("transcript"));
const status = new StatusBar(page);
const live = new LiveText(document.getElementById("transcript"), () => socket?.sync());
const ENDINGS = ["experiment_stopped", "experiment_error"];

startTabs(document.getElementById("tabs"), () => follower.settle());
startStop(page, status);

const socket = openSocket({
  run: page.dataset.run,
  after: Number(page.dataset.after),
  language: page.dataset.language,
  onEvent: take,
  onDelta: (data) => follower.keep(() => live.take(data)),
  onConnection: (state) => status.connection(state),
});

function take(envelope) {
  follower.keep(() => {
    const shown = envelope.html ? insert(envelope.html) : null;
    if (shown?.isNew) follower.count(shown.element);
    if (shown) announce(envelope);
  });
  if (ENDINGS.includes(envelope.type)) {
    follower.keep(() => live.clear());
    page.dataset.over = "";
  }
  if (envelope.type === "experiment_state" && envelope.data.state === "queued") {
    delete page.dataset.over;
    removeEnding();
  }
  if (envelope.type === "turn_started") status.turn(envelope.data.turn);
  status.refresh();
}
