/** What was typed at a pause and not yet said: kept in this tab until it is, also when the page is loaded again. */

const PREFIX = "arena.draft.";

/** Texts by the name of their field. */
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
