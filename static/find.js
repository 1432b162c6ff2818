/** Search inside the transcript: n of m, Enter for the next, Shift+Enter for the one before, Esc to end it. */

const PAUSE = 150;
const MOST = 2000;

/** beforeMove: called before the page is scrolled to a match. */
export function startFinding(transcript, beforeMove) {
  return document.getElementById("find") ? new Finder(transcript, beforeMove) : null;
}

class Finder {
  #field = document.getElementById("find");
  #count = document.getElementById("found");
  #buttons = [document.getElementById("find-previous"), document.getElementById("find-next")];
  #marks = highlighter();
  #ranges = [];
  #at = -1;
  #typing = null;
  #growing = null;
  #isOurs = false;

  constructor(transcript, beforeMove) {
    this.transcript = transcript;
    this.beforeMove = beforeMove;
    this.#field.addEventListener("input", () => this.#typed());
    this.#field.addEventListener("keydown", (event) => this.#key(event));
    this.#buttons[0].addEventListener("click", () => this.#move(-1));
    this.#buttons[1].addEventListener("click", () => this.#move(1));
    new MutationObserver(() => this.#field.value && !this.#isOurs && this.#grown()).observe(transcript, {
      childList: true,
      subtree: true,
      characterData: true,
    });
  }

  get isOn() {
    return Boolean(this.#field.value);
  }

  clear() {
    this.#field.value = "";
    this.#search(false);
  }

  #typed() {
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.#search(true), PAUSE);
  }

  /** Text may come faster than the pause is long: the first of it begins the pause. What was typed has its own. */
  #grown() {
    this.#growing ??= setTimeout(() => {
      this.#growing = null;
      if (!this.#stale()) this.#search(false);
    }, PAUSE);
  }

  #key(event) {
    if (event.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      clearTimeout(this.#typing);
      if (this.#stale()) this.#search(true);
      else this.#move(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      if (this.isOn) this.clear();
      else this.#field.blur();
    }
  }

  #stale() {
    return this.#field.value.toLowerCase() !== this.sought;
  }

  /** isNew: another word is sought, so the first match from here on is gone to. Otherwise the page has only grown. */
  #search(isNew) {
    const place = this.#ranges[this.#at]?.startContainer;
    this.#ours(() => this.#marks.clear());
    this.sought = this.#field.value.toLowerCase();
    this.#ranges = this.sought ? rangesOf(this.sought, this.transcript) : [];
    this.#at = isNew ? this.#nearest() : Math.max(this.#ranges.length ? 0 : -1, this.#ranges.findIndex((range) => range.startContainer === place));
    this.#show(isNew);
  }

  /** The first match that is not above what the reader sees. */
  #nearest() {
    const at = this.#ranges.findIndex((range) => shownPart(range).getBoundingClientRect().bottom > 0);
    return at < 0 && this.#ranges.length ? 0 : at;
  }

  #move(step) {
    if (!this.#ranges.length) return;
    this.#at = (this.#at + step + this.#ranges.length) % this.#ranges.length;
    this.#show(true);
  }

  #show(goes) {
    const current = this.#ranges[this.#at];
    for (const button of this.#buttons) button.disabled = !this.#ranges.length;
    this.#count.textContent = this.sought ? counted(this.#at + 1, this.#ranges.length) : "";
    if (goes && current) this.#unfold(current);
    this.#ours(() => (this.sought ? this.#marks.show(this.#ranges, current) : this.#marks.clear()));
    if (goes && current) this.#reveal(current);
  }

  #unfold(range) {
    let fold = range.startContainer.parentElement.closest("details:not([open])");
    while (fold) {
      fold.open = true;
      fold = fold.parentElement.closest("details:not([open])");
    }
    range.startContainer.parentElement.dispatchEvent(new CustomEvent("reveal", { bubbles: true })); // for tabs
  }

  #reveal(range) {
    this.beforeMove();
    const { top, bottom } = range.getBoundingClientRect();
    const style = getComputedStyle(document.documentElement);
    const [ceiling, floor] = [parseFloat(style.scrollPaddingTop) || 0, innerHeight - (parseFloat(style.scrollPaddingBottom) || 0)];
    if (top < ceiling || bottom > floor) scrollBy({ top: top - ceiling - (floor - ceiling) / 3, behavior: "instant" });
  }

  /** Our own marks are no news. */
  #ours(change) {
    this.#isOurs = true;
    change();
    queueMicrotask(() => (this.#isOurs = false));
  }
}

/** What can be seen of the place of a match: folded text has none of its own. */
function shownPart(range) {
  let element = range.startContainer.parentElement;
  for (let fold = element.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) element = fold;
  return element;
}

function rangesOf(sought, root) {
  const found = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && found.length < MOST) {
    const node = walker.currentNode;
    const text = node.data.toLowerCase();
    if (text.length !== node.length) continue; // a letter whose lower case is longer: places would not fit
    for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) found.push(rangeIn(node, at, sought.length));
  }
  return found;
}

function rangeIn(node, start, length) {
  const range = document.createRange();
  range.setStart(node, start);
  range.setEnd(node, start + length);
  return range;
}

function counted(at, all) {
  if (!all) return gettext("nothing found");
  return interpolate(all < MOST ? gettext("%(at)s of %(all)s") : gettext("%(at)s of more than %(all)s"), { at, all }, true);
}

/** Marks ranges of text: by the CSS Custom Highlight API, which changes nothing in the page, else by `<mark>`. */
const ALL = "found";
const CURRENT = "found-current";

export function highlighter() {
  return "highlights" in CSS ? new Painted() : new Wrapped();
}

class Painted {
  show(ranges, current) {
    CSS.highlights.set(ALL, new Highlight(...ranges));
    CSS.highlights.set(CURRENT, new Highlight(...(current ? [current] : [])));
  }

  clear() {
    CSS.highlights.delete(ALL);
    CSS.highlights.delete(CURRENT);
  }
}

class Wrapped {
  #marks = [];

  show(ranges, current) {
    this.clear();
    for (const range of [...ranges].reverse()) {
      const mark = document.createElement("mark");
      mark.className = range === current ? "found current" : "found";
      range.surroundContents(mark); // a match lies within one text node
      this.#marks.push(mark);
    }
  }

  clear() {
    for (const mark of this.#marks) {
      const parent = mark.parentNode;
      mark.replaceWith(...mark.childNodes);
      parent?.normalize();
    }
    this.#marks = [];
  }
}
