/** Says how much of a file has been sent. Without a script the browser says so itself. */
for (const form of document.querySelectorAll("form[data-upload]")) {
  form.addEventListener("submit", (event) => {
    const file = form.querySelector("input[type=file]").files[0];
    if (!file) return;
    event.preventDefault();
    send(form);
  });
}

function send(form) {
  const request = new XMLHttpRequest();
  const [button, told] = [form.querySelector("button"), form.querySelector("[data-sent]")];
  button.disabled = true;
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    told.textContent = interpolate(gettext("Sent: %s"), [`${Math.floor((100 * loaded) / Math.max(total, 1))} %`]);
  });
  request.addEventListener("load", () => {
    if (request.status < 400 || request.responseURL !== location.href) {
      location.assign(request.responseURL);
    } else {
      const isSaid = showErrors(new DOMParser().parseFromString(request.responseText, "text/html"));
      if (!isSaid) told.textContent = refused(request.status);
      button.disabled = false;
    }
  });
  request.addEventListener("error", () => {
    told.textContent = gettext("The server could not be reached. Nothing was lost. Try again.");
    button.disabled = false;
  });
  request.open("POST", location.href);
  request.send(new FormData(form));
}

/** Where what stands before the platform answers in its place. */
function refused(status) {
  if (status === 413) return gettext("The file is larger than the server allows. Nothing was stored.");
  return interpolate(gettext("The server refused it (%s). Nothing was lost. Try again."), [status]);
}

/** What the server says, above the form; what was typed stays. Whether it said anything. */
function showErrors(page) {
  const [fresh, main] = [page.querySelector(".error-summary, .problem"), document.querySelector("main h1")];
  document.querySelector(".error-summary")?.remove();
  document.querySelector("[data-sent]").textContent = "";
  if (!fresh) return false;
  main.after(fresh);
  fresh.focus();
  return true;
}
