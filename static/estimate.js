/** What the run may come to, asked of the server whenever the form has changed and rests. */

const REST = 300;

export function startEstimate(form, place) {
  const address = form.getAttribute("data-estimate"); // form.dataset would be a field called "dataset", where there is one
  let timer = null;
  let asked = 0;

  async function ask() {
    const number = ++asked;
    const answer = await fetch(address, { method: "POST", body: new FormData(form), redirect: "error" }).catch(() => null);
    if (number !== asked || !answer?.ok) return;
    const html = await answer.text();
    if (place.innerHTML !== html) place.innerHTML = html;
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(ask, REST);
  }

  form.addEventListener("input", soon);
  form.addEventListener("change", soon);
  addEventListener("pageshow", (event) => event.persisted && soon());
}
