/** Notes and findings on a message stand beside it, too, whenever it is on the page. */

export function startNotes(transcript) {
  const notes = [...document.querySelectorAll(":is(#annotations, #findings) .person-note[data-message]")];
  if (!notes.length || !transcript) return;
  const place = () => {
    for (const note of notes) beside(note);
  };
  place();
  new MutationObserver(place).observe(transcript, { childList: true });
}

function beside(note) {
  const message = document.getElementById(note.dataset.message);
  if (!message || message.querySelector(`[data-note-of="${note.id}"]`)) return;
  const copy = note.cloneNode(true);
  copy.removeAttribute("id");
  copy.removeAttribute("tabindex");
  copy.dataset.noteOf = note.id;
  copy.querySelector(".note-place")?.remove();
  message.append(copy);
}
