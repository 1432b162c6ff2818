/** From which probability on a token is high, and below which it is low. Kept in this browser. */

const PLACE = "arena.token-bounds";
const DEFAULT = { high: 0.8, low: 0.5 };

export function bounds() {
  try {
    return { ...DEFAULT, ...JSON.parse(localStorage.getItem(PLACE) ?? "{}") };
  } catch {
    return DEFAULT; // storage is blocked, or holds something else
  }
}

/** The other bound gives way, so that `low` never lies above `high`. */
export function setBound(name, value) {
  const given = Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : DEFAULT[name];
  const both = { ...bounds(), [name]: given };
  if (both.low > both.high) both[name === "low" ? "high" : "low"] = given;
  try {
    localStorage.setItem(PLACE, JSON.stringify(both));
  } catch {
    // storage is blocked: the bounds stay as they are
  }
}

export function share(value) {
  return value === null ? "–" : `${(100 * value).toFixed(1)} %`;
}
