/** What pages ask for again and again. One answer that never comes, or breaks off half way, must not be the last. */

const PATIENCE = 30_000;

/** {answer, text}; null where no whole answer came in time. */
export async function fetchText(address, options = {}) {
  try {
    const answer = await fetch(address, { cache: "no-store", ...options, signal: AbortSignal.timeout(PATIENCE) });
    return { answer, text: await answer.text() };
  } catch {
    return null;
  }
}
