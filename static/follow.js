/** Stays at the end of the page while the reader is there; otherwise counts what has come, and offers to go there. */

const NEAR = 80; // px within which the reader counts as being at the end
const ROOM = 24; // px left free below the last words
const MOST_COVERED = 0.75; // of the window, by the panel of a run that waits

export class Follower {
  #isAtEnd;
  #missed = 0;

  constructor(transcript) {
    this.transcript = transcript;
    this.isStill = "still" in transcript.dataset; // a page that grows in many places has no end to be followed
    this.button = document.getElementById("follow");
    this.#isAtEnd = this.#isNear() && !location.hash;
    addEventListener("scroll", () => this.#look(), { passive: true });
    addEventListener("resize", () => this.keep(() => {}), { passive: true });
    this.button.addEventListener("click", () => this.#goToEnd());
  }

  /** Does `change`; the end stays in sight if it was. */
  keep(change) {
    change();
    if (!this.#isAtEnd || !this.#isShown()) return;
    const hidden = this.transcript.getBoundingClientRect().bottom + ROOM - this.#floor;
    if (hidden > 0) scrollBy({ top: hidden, behavior: "instant" });
  }

  /** Something new is in the transcript. */
  count(element) {
    if (this.isStill || this.#isAtEnd || !element.matches("article, .judgment, .ending, .trouble")) return;
    this.#missed += 1;
    this.#showButton();
  }

  /** The transcript was shown again after having been hidden. */
  settle() {
    if (this.#isAtEnd) this.keep(() => {});
  }

  #isShown() {
    return this.transcript.checkVisibility();
  }

  #isNear() {
    return !this.isStill && this.transcript.getBoundingClientRect().bottom - this.#floor < NEAR;
  }

  /** Where the transcript can be seen down to: a run that waits for somebody covers the end of the window. */
  get #floor() {
    const covered = document.querySelector(".waiting-place")?.offsetHeight ?? 0;
    return innerHeight - Math.min(covered, innerHeight * MOST_COVERED);
  }

  /** Somebody goes elsewhere: the end is not followed for now. */
  leave() {
    this.#isAtEnd = false;
  }

  #look() {
    if (!this.#isShown()) return;
    this.#isAtEnd = this.#isNear();
    if (this.#isAtEnd) this.#missed = 0;
    this.#showButton();
  }

  #showButton() {
    const isNeeded = this.#missed > 0;
    if (!isNeeded && document.activeElement === this.button) this.transcript.lastElementChild?.focus({ preventScroll: true });
    this.button.hidden = !isNeeded;
    const words = interpolate(ngettext("%(n)s new", "%(n)s new", this.#missed), { n: this.#missed }, true);
    if (isNeeded) this.button.lastElementChild.textContent = words;
  }

  #goToEnd() {
    this.#isAtEnd = true;
    this.#missed = 0;
    this.keep(() => {});
    this.#showButton();
  }
}
