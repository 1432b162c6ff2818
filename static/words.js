/** How two texts differ, in numbers. */

/** Words that are in only one of the two, between the first and the last place where they differ. */
export function difference(before, after) {
  const [left, right] = [before, after].map((text) => text.split(/\s+/));
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  const room = Math.min(left.length, right.length) - start;
  while (end < room && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  return { removed: left.length - start - end, added: right.length - start - end };
}
