/** The list of turns: choosing one goes there. */

export function startJumping(transcript) {
  const select = document.getElementById("jump");
  const jump = {
    /** A turn has begun. */
    add(turn) {
      if (!select || select.querySelector(`option[value="${turn}"]`)) return;
      select.append(new Option(turn, turn));
    },
  };
  for (const heading of transcript.querySelectorAll(".turn")) jump.add(heading.dataset.turn);
  select?.addEventListener("change", () => {
    const heading = document.getElementById(`turn-${select.value}`);
    select.value = "";
    if (!heading) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    heading.scrollIntoView({ block: "start" });
  });
  return jump;
}
