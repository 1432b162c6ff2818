/** Sends a form without leaving the page. */

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
