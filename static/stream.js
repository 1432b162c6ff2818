/** Text while it is being written. Offsets count Unicode code points; gaps are kept aside until they close. */
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

/** A structured answer while it is written: the fields that are meant for readers grow, and never a brace is seen.
 *
 * The element names them: `data-fields="title description"`, and headings as `data-heading-title="Title"`.
 */
export class LiveFields {
  constructor(element) {
    this.element = element;
    this.shown = new Set(element.dataset.fields.split(" "));
  }

  show(answer) {
    const lines = [...this.element.querySelectorAll("p")];
    const texts = readable(answer, this.shown);
    texts.forEach(({ section, text }, number) => {
      const line = lines[number] ?? this.#begun(section);
      if (line.textContent !== text) line.textContent = text;
    });
    for (const line of lines.slice(texts.length)) line.remove();
  }

  /** A new line; before the first one of a section, its heading. */
  #begun(section) {
    const words = section && this.element.getAttribute(`data-heading-${section}`);
    if (words && this.element.dataset.section !== section) {
      const title = document.createElement("h5");
      title.textContent = words;
      this.element.append(title);
    }
    this.element.dataset.section = section;
    const line = document.createElement("p");
    line.dataset.field = section;
    return this.element.appendChild(line);
  }
}

/** The texts of an answer in JSON, as far as it has come: what is meant for readers, and never a brace. */
const LONGEST_LEAD = 200; // characters before an object; whoever says more has written words that quote one
const ESCAPES = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** [{section, text}] of the fields shown: section is the name of the list or of the field; "" for words that are no JSON. */
export function readable(answer, shown) {
  const start = answer.indexOf("{");
  if (start < 0 || answer.slice(0, start).trim().length > LONGEST_LEAD) return plain(answer);
  const found = [];
  const open = []; // the brackets that are open: {isObject, name, key, wantsKey}
  for (let at = start; at < answer.length; at += 1) {
    const top = open.at(-1);
    const sign = answer[at];
    if (sign === "{" || sign === "[") open.push({ isObject: sign === "{", name: top?.isObject ? top.key : top?.name, wantsKey: sign === "{" });
    else if (sign === "}" || sign === "]") open.pop();
    else if (sign === ",") top.wantsKey = top.isObject;
    else if (sign === '"') {
      const { text, end } = readString(answer, at + 1);
      if (top.wantsKey) Object.assign(top, { key: text, wantsKey: false });
      else take(found, shown, top, text);
      at = end;
    }
    if (!open.length) break; // what stands after the object is no part of it
  }
  return found;
}

function plain(answer) {
  const text = answer.replace(/^\s*```\w*\s*/, "").trim();
  return text && !"```json".startsWith(text) ? [{ section: "", text }] : [];
}

function take(found, shown, { isObject, key, name }, text) {
  if (shown.has(isObject ? key : name) && text.trim()) found.push({ section: name ?? key, text });
}

/** The string that begins at `at`, and where it ends; of one that is still being written, what there is. */
function readString(answer, at) {
  let text = "";
  while (at < answer.length && answer[at] !== '"') {
    if (answer[at] !== "\\") {
      text += answer[at];
      at += 1;
      continue;
    }
    const length = answer[at + 1] === "u" ? 6 : 2;
    const escape = answer.slice(at, at + length);
    if (escape.length < length) return { text, end: answer.length };
    text += length === 6 ? String.fromCharCode(parseInt(escape.slice(2), 16) || 0xfffd) : (ESCAPES[escape[1]] ?? escape[1]);
    at += length;
  }
  return { text, end: at };
}
