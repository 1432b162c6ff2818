/** The page of a run: joins the socket, the transcript, the live text, the status bar and what people do to the run. */
import { startCopying } from "./copying.js";
import { startDialogs } from "./dialogs.js";
import { startFinding } from "./find.js";
import { Follower } from "./follow.js";
import { startReading } from "./reading.js";
import { startRefreshing } from "./refresh.js";
import { openSocket } from "./socket.js";
import { StatusBar } from "./status.js";
import { startSteering, startStop } from "./steer.js";
import { LiveText } from "./stream.js";
import { startTabs } from "./tabs.js";
import { announce, insert, removeEnding, startJumping, startNotes } from "./transcript.js";
import { Waiting } from "./waiting.js";

const page = document.getElementById("run");
const transcript = document.getElementById("transcript");
const follower = new Follower(transcript);
const status = new StatusBar(page);
const live = new LiveText(transcript, () => socket?.sync());
const waiting = document.getElementById("slot-waiting") ? new Waiting(page) : null;
const jump = startJumping(transcript);
const refresh = startRefreshing();
const ENDINGS = ["experiment_stopped", "experiment_error"];

startTabs(document.getElementById("tabs"), () => follower.settle());
startStop(page, status);
startSteering(page, status);
startCopying(transcript);
startDialogs();
startFinding(transcript, () => follower.leave());
startReading();
startNotes(transcript);
for (const part of document.querySelectorAll(".needs-script")) part.hidden = false;

const socket = openSocket({
  run: page.dataset.run,
  after: Number(page.dataset.after),
  language: page.dataset.language,
  onEvent: take,
  onDelta: (data) => follower.keep(() => live.take(data)),
  onConnection: (state) => status.connection(state),
});

function take(envelope) {
  if (envelope.type === "waiting_for_user" && waiting?.isShowing(envelope.data.key)) return;
  follower.keep(() => show(envelope));
  if (ENDINGS.includes(envelope.type)) {
    follower.keep(() => live.clear());
    page.dataset.over = "";
  }
  if (envelope.type === "experiment_state" && envelope.data.state === "queued") {
    delete page.dataset.over;
    removeEnding();
  }
  if (envelope.type === "turn_started") {
    status.turn(envelope.data.turn);
    jump.add(envelope.data.turn);
  }
  refresh(envelope.type);
  status.refresh();
  page.dispatchEvent(new CustomEvent("news", { detail: envelope })); // for the scripts of a workflow's own page
}

function show(envelope) {
  if (envelope.type === "said") waiting?.said(envelope.data);
  if (ENDINGS.includes(envelope.type)) waiting?.ended();
  const shown = envelope.html ? insert(envelope.html) : null;
  if (envelope.type === "waiting_for_user") waiting?.adopt();
  if (shown?.isNew) follower.count(shown.element);
  if (shown) announce(envelope);
}
