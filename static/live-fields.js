/** A structured answer while it is written: the fields that are meant for readers grow, and never a brace is seen.
 *
 * The element names them: `data-fields="title description"`, and headings as `data-heading-title="Title"`.
 */
import { readable } from "./partial.js";

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
