/** The texts of an answer in JSON, as far as it has come: what is meant for readers, and never a brace. */

const LONGEST_LEAD = 200; // characters before an object; whoever says more has written words that quote one
const ESCAPES = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** [{section, text}] of the fields shown: section is the name of the list or of the field; "" for words that are no JSON. */
export function readable(answer, shown) {
  const start = answer.indexOf("{");
  if (start < 0 || answer.slice(0, start).trim().length > LONGEST_LEAD) return plain(answer);
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
      else take(found, shown, top, text);
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

function take(found, shown, { isObject, key, name }, text) {
  if (shown.has(isObject ? key : name) && text.trim()) found.push({ section: name ?? key, text });
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
