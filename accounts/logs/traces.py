"""How an error came about, without what was being worked on: of its message the first line, and not much of that.

Later lines of a message hold values: PostgreSQL's `DETAIL` has the row, pydantic's report the input.
"""

import traceback

MOST_CHARACTERS = 200
MOST_CAUSES = 10


def trace_of(error: BaseException) -> str:
    """Python's traceback with its causes, the first cause first."""
    return "\n\n".join(_one(one, note) for one, note in reversed(_chain(error)))


def name_of(error: BaseException) -> str:
    """The type of an error with the beginning of its message."""
    first = (str(error).splitlines() or [""])[0]
    said = first if len(first) <= MOST_CHARACTERS else f"{first[:MOST_CHARACTERS]}…"
    kind = type(error).__qualname__
    return f"{kind}: {said}" if said else kind


def _chain(error: BaseException) -> list[tuple[BaseException, str]]:
    """An error and what came before it, with the words that lead from each to the next."""
    found: list[tuple[BaseException, str]] = [(error, "")]
    while len(found) < MOST_CAUSES:
        last = found[-1][0]
        if last.__cause__ is not None:
            found.append((last.__cause__, "That was the cause of:"))
        elif last.__context__ is not None and not last.__suppress_context__:
            found.append((last.__context__, "While that was handled:"))
        else:
            break
    return found


def _one(error: BaseException, note: str) -> str:
    frames = "".join(traceback.format_tb(error.__traceback__)).rstrip("\n")
    parts = ["Traceback (most recent call last):", frames, name_of(error), note]
    return "\n".join(part for part in parts if part)
