/** The page of a debate: drafts, questions, points as they are written, and what is asked again. News come from run.js. */
import { send, trouble } from "../../requests.js";
import { Questions } from "./questions.js";
import { ServerDrafts } from "./server-drafts.js";

const page = document.getElementById("run");
const drafts = new ServerDrafts(page);
const questions = new Questions(page);
const sayForm = document.getElementById("say-form");
const offerForm = document.getElementById("offer-form");
const offerNotice = document.getElementById("offer-notice");
let addendum = ""; // while a debater is asked again: the pause after it opens empty
let taken = ""; // the offer that was taken up from here

nameSources();

page.addEventListener("news", ({ detail: { type, data } }) => {
  if (type === "waiting_for_user" || type === "offer_opened") opened(type === "offer_opened" ? "offer" : "waiting");
  if (type === "said") said(data);
  if (type.startsWith("message_")) {
    nameSources();
    questions.restore();
  }
});

/** A pause or an offer has come: its text is what was being written before somebody was asked again. */
function opened(id) {
  const field = document.querySelector(`#${id} [data-draft]`);
  if (!field) return;
  if (addendum && !field.value) field.value = addendum;
  addendum = "";
  drafts.adopt(field);
}

/** What a pushed fragment cannot know: which model gave the answer that a piece of advice rests on. */
function nameSources() {
  for (const source of page.querySelectorAll("[data-source]")) {
    const place = source.querySelector("[data-model]");
    const [seat, turn] = [source.dataset.source[0], source.dataset.source.slice(1)];
    const answers = page.querySelectorAll(`#slot-round-${turn} .message[data-seat="${seat}"]:not(.superseded) .model-name`);
    const name = [...answers].at(-1)?.textContent;
    if (name && place.textContent !== name) place.textContent = name;
  }
}

/* ---------- Asking somebody again ---------- */

/** The buttons stand with the answers that failed, and speak through the form of the pause. */
page.addEventListener("submit", (event) => {
  const { seat } = event.target.dataset;
  if (!seat || !event.target.id.startsWith("retry-")) return;
  event.preventDefault();
  const action = event.submitter.value;
  addendum = document.getElementById("say-form-addendum")?.value ?? "";
  sayForm.elements[`text-${action}`].value = seat;
  sayForm.requestSubmit(sayForm.querySelector(`[data-again][value="${action}"]`));
});

/** A text that was cleared shall not be found there by those who go on: the server is told first. */
document.addEventListener(
  "submit",
  async (event) => {
    const isAdding = ["round", "summarize"].includes(event.submitter?.value);
    if (!isAdding || !drafts.hasUnsaved || "heldBack" in event.target.dataset) return;
    const [form, button] = [event.target, event.submitter];
    event.preventDefault();
    event.stopPropagation();
    await drafts.flush();
    form.dataset.heldBack = "";
    form.requestSubmit(button);
    delete form.dataset.heldBack;
  },
  true,
);

/* ---------- What may be done after the end ---------- */

offerForm?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const offer = document.getElementById("offer");
  if (!offer || taken === offer.dataset.key) return;
  taken = offer.dataset.key;
  const answering = send(offerForm, event.submitter);
  enable(offer, false);
  const words = trouble(await answering);
  if (words) {
    taken = "";
    tell(words, "");
    enable(offer, true);
  } else {
    tell("", "");
    offer.remove();
  }
});

function said(data) {
  const offer = document.getElementById("offer");
  if (offer?.dataset.key !== data.key) return;
  const text = offer.querySelector("[data-draft]")?.value ?? "";
  if (taken !== data.key) tell(interpolate(gettext("%(by)s continued from here first; nothing of yours was sent."), data, true), text);
  offer.remove();
}

function enable(offer, isOn) {
  for (const button of offer.querySelectorAll("button")) button.disabled = !isOn;
}

/** A sentence, and a text that would be lost otherwise. */
function tell(words, text) {
  offerNotice.textContent = words;
  offerNotice.hidden = !words;
  if (!text.trim()) return;
  const kept = document.createElement("span");
  kept.className = "plain kept";
  kept.textContent = text;
  offerNotice.append(document.createElement("br"), gettext("Your text:"), document.createElement("br"), kept);
}
