/** The refiner's questions: answers are typed beside them, and join the final prompt when somebody says so. */
import { Draft } from "../../drafts.js";

const KEY = "answers";

export class Questions {
  constructor(page) {
    this.page = page;
    this.draft = new Draft(page.dataset.run, KEY);
    page.addEventListener("input", ({ target }) => target.matches("[data-answer]") && this.#keep());
    page.addEventListener("click", ({ target }) => this.#join(target.closest("[data-join]")));
    this.restore();
  }

  /** Also after the answer of the refiner was put in its place anew. */
  restore() {
    const kept = this.draft.read();
    for (const field of this.#fields()) field.value ||= kept[field.id] ?? "";
  }

  #fields() {
    return [...this.page.querySelectorAll("[data-answer]")];
  }

  #keep() {
    const typed = this.#fields().filter((field) => field.value.trim());
    this.draft.write(Object.fromEntries(typed.map((field) => [field.id, field.value])));
  }

  #join(button) {
    const editor = document.getElementById("pause-text");
    if (!button || !editor) return;
    const fields = [...button.closest("article").querySelectorAll("[data-answer]")];
    const answered = fields.filter((field) => field.value.trim());
    if (!answered.length) {
      fields[0].focus();
      return;
    }
    for (const field of answered) editor.value = joined(editor.value, field.labels[0].textContent.trim(), field.value.trim());
    editor.dispatchEvent(new InputEvent("input", { bubbles: true }));
    editor.focus();
    document.getElementById("announcer").textContent = gettext("Your answers are in the final prompt.");
  }
}

const PLACE = /^(\s+[^:：]{1,40}[:：])(.*)$/; // below a question: "  Answer: "

/** The prompt with the answer below its question: in the place that is made for it there, else at the end. */
export function joined(prompt, question, answer) {
  const lines = prompt.split("\n");
  const at = lines.findIndex((line) => line.replace(/^\s*[-*]\s*/, "").trim() === question);
  const indented = answer.replaceAll("\n", "\n  ");
  if (at < 0) return `${prompt.trimEnd()}\n\n- ${question}\n  ${indented}\n`;
  const place = PLACE.exec(lines[at + 1] ?? "");
  if (!place) return lines.toSpliced(at + 1, 0, `  ${indented}`).join("\n");
  let end = at + 2; // an answer that was put there before may have several lines
  while (end < lines.length && /^ {2}\S/.test(lines[end])) end += 1;
  return lines.toSpliced(at + 1, end - at - 1, `${place[1]} ${indented}`).join("\n");
}
