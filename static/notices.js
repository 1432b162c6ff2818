/** Sentences at the top of the page that say what did not happen, and why. */

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
