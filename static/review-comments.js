/** Comments on words: of a selection made by mouse, or of sentences chosen by keyboard. Places count characters, not UTF-16. */

export function startComments(page, form) {
  const list = document.getElementById("comments");
  const blank = document.getElementById("comment-row");
  const sentences = sentencesOf(page);
  let first = -1;
  let last = -1;
  let selected = null; // a press of the button takes the selection away: it is kept from before

  document.addEventListener("selectionchange", () => {
    const found = selection();
    if (found || document.activeElement?.closest("textarea, input")) selected = found ?? selected;
  });
  list.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-remove]")) return;
    target.closest("li").remove();
    form.dispatchEvent(new Event("input", { bubbles: true }));
    document.getElementById("add-comment").focus();
  });
  document.getElementById("add-comment").addEventListener("click", comment);

  function choose(step) {
    if (!sentences.length) return;
    first = last = Math.max(0, Math.min(sentences.length - 1, (step > 0 ? last : first) + step));
    show();
  }

  function extend(step) {
    if (last < 0) return choose(1);
    const to = Math.max(first, Math.min(sentences.length - 1, last + step));
    if (sentences[to].message === sentences[first].message) last = to;
    show();
  }

  function show() {
    getSelection().removeAllRanges();
    selected = null;
    sentences.forEach((one, number) => one.pieces.forEach((piece) => piece.classList.toggle("chosen", number >= first && number <= last)));
    sentences[last].pieces[0].scrollIntoView({ block: "nearest" });
    document.getElementById("announcer").textContent = sentences[last].text;
  }

  function chosen() {
    if (first < 0) return null;
    const [begin, end] = [sentences[first], sentences[last]];
    const text = sentences.slice(first, last + 1).map((one) => one.text).join(" ");
    return { message: begin.message, start: begin.start, end: end.end, text };
  }

  function comment() {
    const found = selection() ?? selected ?? chosen();
    if (!found) {
      document.getElementById("announcer").textContent = gettext("Select words first, or choose a sentence with . and ,");
      return;
    }
    const row = blank.content.cloneNode(true).firstElementChild;
    row.querySelector("q").textContent = shortened(found.text);
    row.querySelector("[name=place]").value = `${found.message}:${found.start}:${found.end}`;
    list.append(row);
    const field = row.querySelector("textarea");
    field.setAttribute("aria-label", `${gettext("Comment on")} “${shortened(found.text)}”`);
    field.focus();
    selected = null;
  }

  return { choose, extend, comment };
}

/** What is selected within one message: {message, start, end, text}; null for nothing, or more than one message. */
function selection() {
  const range = getSelection().rangeCount ? getSelection().getRangeAt(0) : null;
  if (!range || range.collapsed) return null;
  const words = (node) => (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest(".review-words");
  const container = words(range.startContainer);
  if (!container || container !== words(range.endContainer)) return null;
  const start = placeOf(range.startContainer, range.startOffset);
  const end = placeOf(range.endContainer, range.endOffset);
  if (start === null || end === null || end <= start) return null;
  return { message: container.dataset.message, start, end, text: range.toString() };
}

/** The character of the message at a place in the page: that of its piece, and those before it within the piece. */
function placeOf(node, offset) {
  if (node.nodeType !== Node.TEXT_NODE) {
    const piece = node.closest(".piece") ?? node.childNodes[offset] ?? node.lastElementChild;
    const isPast = !node.closest(".piece") && !node.childNodes[offset];
    return piece?.dataset ? Number(piece.dataset.start) + (isPast || offset > 0 && node === piece ? length(piece.textContent) : 0) : null;
  }
  const piece = node.parentElement.closest(".piece");
  return piece ? Number(piece.dataset.start) + length(node.data.slice(0, offset)) : null;
}

/** The sentences of the page in order, each of the pieces that a comment's end may have cut it into. */
function sentencesOf(page) {
  const found = [];
  for (const container of page.querySelectorAll(".review-text > .transcript .review-words")) {
    const byNumber = Map.groupBy?.([...container.querySelectorAll("[data-sentence]")], (piece) => piece.dataset.sentence) ?? grouped(container);
    for (const pieces of byNumber.values()) {
      const text = pieces.map((piece) => piece.textContent).join("");
      const start = Number(pieces[0].dataset.start);
      found.push({ message: container.dataset.message, pieces, text, start, end: start + length(text) });
    }
  }
  return found;
}

function grouped(container) {
  const found = new Map();
  for (const piece of container.querySelectorAll("[data-sentence]")) found.set(piece.dataset.sentence, [...(found.get(piece.dataset.sentence) ?? []), piece]);
  return found;
}

function length(text) {
  return [...text].length;
}

function shortened(text) {
  return length(text) > 160 ? `${[...text].slice(0, 160).join("")}…` : text;
}
