/** Asks the server for something without leaving the page, sends forms to it, and says what went wrong. */

const PATIENCE = 30_000; // milliseconds: an answer that never comes, or breaks off half way, must not be the last

/** {answer, text}; null where no whole answer came in time. */
export async function fetchText(address, options = {}) {
  try {
    const answer = await fetch(address, { cache: "no-store", ...options, signal: AbortSignal.timeout(PATIENCE) });
    return { answer, text: await answer.text() };
  } catch {
    return null;
  }
}

/**
 * What the server said: {status, problem, said}; status 0 when it could not be reached, 401 when it asks to sign in.
 * Plain forms are answered with a redirect; asked for JSON, the server says what became of it.
 */
export async function send(form, submitter = null) {
  try {
    // not `form.action`: that would be a button of this name
    const options = { method: "POST", body: new FormData(form, submitter), headers: { Accept: "application/json" } };
    const answer = await fetch(form.getAttribute("action"), { ...options, redirect: "manual" });
    if (answer.type === "opaqueredirect") return { status: 401 };
    const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
    return { status: answer.status, ...(isJson ? await answer.json() : {}) };
  } catch {
    return { status: 0 };
  }
}

/** A sentence at the top of the page that says what did not happen, and why. */
export function notify(words, kind = "warning") {
  const place = document.querySelector(".notices");
  const line = document.createElement("p");
  line.className = `notice ${kind}`;
  line.textContent = words;
  place.replaceChildren(line);
}

/** What is wrong with an answer of `send`; "" when nothing is. */
export function trouble({ status, problem }) {
  if (problem) return problem;
  if (status === 0) return gettext("The server could not be reached. Nothing was changed. Try again.");
  if (status === 401) return gettext("You are signed out. Sign in in another tab, then try again. What you typed is kept.");
  if (status >= 400) return gettext("The server refused it. Nothing was changed. Reload the page.");
  return "";
}
