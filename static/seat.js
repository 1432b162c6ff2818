/** The page of a person in a seat: counts the time down, and keeps one answer from being sent twice. */
const timer = document.getElementById("seat-time");
const form = document.getElementById("seat-form");

function clock(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}

if (timer) {
  const end = performance.now() + 1000 * Number(timer.dataset.left);
  const ticking = setInterval(() => {
    const left = Math.max(0, Math.round((end - performance.now()) / 1000));
    timer.querySelector("[data-clock]").textContent = clock(left);
    timer.classList.toggle("failure", left <= 60);
    if (left > 0) return;
    clearInterval(ticking);
    form.querySelector("button").disabled = true;
    setTimeout(() => location.reload(), 3000);
  }, 1000);
  form.addEventListener("submit", () => form.querySelector("button").setAttribute("disabled", ""));
}
