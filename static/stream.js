/** Text while it is being written. Offsets count Unicode code points; gaps are kept aside until they close. */
import { LiveFields } from "./live-fields.js";
import { isOn } from "./preferences.js";

const PATIENCE = 600; // ms until a gap is asked for

/** One growing text. `take` returns whether the text grew or is whole; false when there is a gap before the piece. */
export class Growing {
  constructor() {
    this.have = 0;
    this.text = "";
    this.aside = new Map();
  }

  take(offset, piece) {
    if (piece) this.#keep(offset, piece);
    let next;
    while ((next = this.#reachable())) this.#append(...next);
    return this.aside.size === 0;
  }

  #keep(offset, piece) {
    const before = this.aside.get(offset);
    if (!before || before.length < piece.length) this.aside.set(offset, piece);
  }

  #reachable() {
    for (const piece of this.aside) if (piece[0] <= this.have) return piece;
    return null;
  }

  #append(offset, piece) {
    this.aside.delete(offset);
    const points = Array.from(piece);
    const unseen = points.slice(this.have - offset);
    this.have += unseen.length;
    this.text += unseen.join("");
  }
}

/** The placeholders of the messages that are being written: one per call, replaced when the message is complete. */
export class LiveText {
  #calls = new Map();
  #asked = null;

  /** sync: asks the server for everything again. */
  constructor(transcript, sync) {
    this.transcript = transcript;
    this.sync = sync;
  }

  take(data) {
    if (document.querySelector(`[data-call="${data.call}"]`)) {
      this.#calls.delete(data.call);
      return;
    }
    const call = this.#call(data);
    const isWhole = call.text.take(data.offset, data.text);
    const isThought = call.reasoning.take(data.reasoning_offset, data.reasoning);
    if (!isWhole || !isThought) this.#askLater();
    if (isOn("live")) call.show();
  }

  /** Nothing more is coming. */
  clear() {
    this.#calls.clear();
    for (const element of this.transcript.querySelectorAll("[data-live]")) element.remove();
  }

  #call(data) {
    let call = this.#calls.get(data.call);
    if (!call?.element.isConnected) {
      this.#forget();
      call = new LiveMessage(data);
      this.#calls.set(data.call, call);
      (call.slot ?? this.transcript).append(call.element);
    }
    return call;
  }

  /** Those whose message is complete: it has taken their place. */
  #forget() {
    for (const [key, call] of this.#calls) if (!call.element.isConnected) this.#calls.delete(key);
  }

  #askLater() {
    this.#asked ??= setTimeout(() => {
      this.#asked = null;
      if ([...this.#calls.values()].some((call) => call.hasGap)) this.sync();
    }, PATIENCE);
  }
}

class LiveMessage {
  constructor({ call, seat, turn, purpose }) {
    this.text = new Growing();
    this.reasoning = new Growing();
    const template = document.getElementById(`live-${purpose}-${seat}`) ?? document.getElementById(`live-${seat}`);
    this.element = template.content.firstElementChild.cloneNode(true);
    this.slot = document.getElementById(template.dataset.place?.replace("PURPOSE", purpose).replace("TURN", turn) ?? "");
    this.element.dataset.live = call;
    this.element.dataset.turn = turn;
    this.element.querySelector(".live-turn").textContent = turn ? interpolate(gettext("Turn %(turn)s"), { turn }, true) : gettext("Before turn 1");
    const fields = this.element.querySelector("[data-fields]");
    this.fields = fields && new LiveFields(fields);
    this.place = this.element.querySelector("[data-text]")?.appendChild(new Text());
    this.thoughts = this.element.querySelector("[data-reasoning]").appendChild(new Text());
    this.length = this.element.querySelector("[data-length]");
    this.fold = this.element.querySelector(".reasoning");
  }

  get hasGap() {
    return this.element.isConnected && this.text.aside.size + this.reasoning.aside.size > 0;
  }

  show() {
    if (this.fields) this.fields.show(this.text.text);
    else grow(this.place, this.text.text);
    grow(this.thoughts, this.reasoning.text);
    this.fold.hidden = !this.reasoning.have;
    const length = this.reasoning.have.toLocaleString("en");
    if (this.length.textContent !== length) this.length.textContent = length;
  }
}

/** Appends what is new, so that a selection in the text before it survives. */
function grow(node, text) {
  if (text.length > node.length) node.appendData(text.slice(node.length));
}
