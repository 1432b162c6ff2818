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
