/** The texts of an answer in JSON, as far as it has come: what is meant for readers, and never a brace. */

const SHOWN = new Set(["objective", "context", "preferences", "missing", "clarifying_questions", "contents"]);
const ESCAPES = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** [{section, text}]: section is the name of the list or of the field; "" for words that are no JSON. */
export function readable(answer) {
  const start = answer.indexOf("{");
  if (start < 0) return plain(answer);
  const found = [];
  const open = []; // the brackets that are open: {isObject, name, key, wantsKey}
  for (let at = start; at < answer.length; at += 1) {
    const top = open.at(-1);
    const sign = answer[at];
    if (sign === "{" || sign === "[") open.push({ isObject: sign === "{", name: top?.isObject ? top.key : top?.name, wantsKey: sign === "{" });
    else if (sign === "}" || sign === "]") open.pop();
    else if (sign === ",") top.wantsKey = top.isObject;
    else if (sign === '"') {
      const { text, end } = readString(answer, at + 1);
      if (top.wantsKey) Object.assign(top, { key: text, wantsKey: false });
      else take(found, top, text);
      at = end;
    }
    if (!open.length) break; // what stands after the object is no part of it
  }
  return found;
}

function plain(answer) {
  const text = answer.replace(/^\s*```\w*\s*/, "").trim();
  return text && !"```json".startsWith(text) ? [{ section: "", text }] : [];
}

function take(found, { isObject, key, name }, text) {
  const field = isObject ? key : name;
  if (SHOWN.has(field) && text.trim()) found.push({ section: field === "contents" ? (name ?? "") : field, text });
}

/** The string that begins at `at`, and where it ends; of one that is still being written, what there is. */
function readString(answer, at) {
  let text = "";
  while (at < answer.length && answer[at] !== '"') {
    if (answer[at] !== "\\") {
      text += answer[at];
      at += 1;
      continue;
    }
    const length = answer[at + 1] === "u" ? 6 : 2;
    const escape = answer.slice(at, at + length);
    if (escape.length < length) return { text, end: answer.length };
    text += length === 6 ? String.fromCharCode(parseInt(escape.slice(2), 16) || 0xfffd) : (ESCAPES[escape[1]] ?? escape[1]);
    at += length;
  }
  return { text, end: at };
}
