/** What somebody has begun to write and not yet sent: kept in this tab until it is, also when the page is loaded again. */

const PREFIX = "arena.draft.";

/** What was typed at a pause: texts by the name of their field. */
export class Draft {
  constructor(run, key) {
    this.place = `${PREFIX}${run}/${key}`;
  }

  read() {
    try {
      return JSON.parse(sessionStorage.getItem(this.place)) ?? {};
    } catch {
      return {};
    }
  }

  write(texts) {
    try {
      if (Object.keys(texts).length) sessionStorage.setItem(this.place, JSON.stringify(texts));
      else sessionStorage.removeItem(this.place);
    } catch {
      // storage is full or blocked: the text stays in its field
    }
  }

  clear() {
    this.write({});
  }
}

/** Where somebody writes what is sent by Enter: a draft outlives a reload, and what was refused is still there. */
export class KeptText {
  /** send: called when Enter is pressed; while an input method composes a word, Enter chooses it. */
  constructor(text, problem, place, send) {
    this.text = text;
    this.problem = problem;
    this.place = place;
    this.#restore();
    text.addEventListener("input", () => this.#keep());
    text.addEventListener("keydown", (event) => {
      const isComposing = event.isComposing || event.keyCode === 229;
      if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey || isComposing) return;
      event.preventDefault();
      send();
    });
  }

  get isEmpty() {
    return !this.text.value.trim();
  }

  clear() {
    this.text.value = "";
    this.#keep();
  }

  /** Why it was not taken; "" when all is well. */
  tell(problem) {
    say(this.problem, problem ? `${problem} ${gettext("What you wrote is still here.")}` : "");
    this.problem.hidden = !problem;
  }

  #restore() {
    try {
      this.text.value ||= sessionStorage.getItem(this.place) ?? "";
    } catch {
      // storage is blocked: a draft lives as long as the page
    }
  }

  #keep() {
    try {
      sessionStorage.setItem(this.place, this.text.value);
    } catch {
      // as above
    }
  }
}

/** Words that did not change are not read aloud again. */
export function say(place, words) {
  if (place.textContent !== words) place.textContent = words;
}
