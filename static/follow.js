/** Stays at the end of the page while the reader is there; otherwise counts what has come, and offers to go there. */

const NEAR = 80; // px within which the reader counts as being at the end
const ROOM = 24; // px left free below the last words

export class Follower {
  #isAtEnd;
  #missed = 0;

  constructor(transcript) {
    this.transcript = transcript;
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
    const hidden = this.transcript.getBoundingClientRect().bottom + ROOM - innerHeight;
    if (hidden > 0) scrollBy({ top: hidden, behavior: "instant" });
  }

  /** Something new is in the transcript. */
  count(element) {
    if (this.#isAtEnd || !element.matches("article, .judgment, .ending, .trouble")) return;
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
    return this.transcript.getBoundingClientRect().bottom - innerHeight < NEAR;
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
