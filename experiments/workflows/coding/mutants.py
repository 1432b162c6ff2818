"""Programs that must not pass: trivial ones, and the reference with one thing changed.

Tests that let them pass tell good solutions from bad ones no better.
"""

import io
import random
import tokenize
from collections import Counter
from collections.abc import Iterator

from experiments.workflows.coding.problems import Problem, as_json

MOST_MUTANTS = 4
BOTH_WAYS = {"<": "<=", ">": ">=", "==": "!=", "+": "-", "and": "or", "True": "False", "min": "max", "any": "all"}
ONE_WAY = {"*": "+", "//": "*", "%": "//", "+=": "-=", "-=": "+=", "break": "pass", "continue": "pass"}
SWAPS = {**BOTH_WAYS, **{other: one for one, other in BOTH_WAYS.items()}, **ONE_WAY}


def trivial(problem: Problem) -> dict[str, str]:
    """Programs that know nothing of the problem, by name: one gives the commonest result, one its first argument."""
    commonest = Counter(as_json(test.expected) for test in problem.tests).most_common(1)[0][0]
    return {
        "constant": f"def {problem.entry}(*given):\n    import json\n    return json.loads({commonest!r})\n",
        "echo": f"def {problem.entry}(*given):\n    return given[0] if given else None\n",
    }


def mutants(problem: Problem, draw: random.Random) -> list[str]:
    """At most four of the reference's variants with one token changed; none where nothing can be changed."""
    changes = list(_changes(problem.reference))
    chosen = draw.sample(changes, min(MOST_MUTANTS, len(changes)))
    return [_changed(problem.reference, *change) for change in chosen]


def _changes(code: str) -> Iterator[tuple[int, int, int, str]]:
    """Line, first and last column, and what may stand there instead. Code that is no Python offers none."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            (line, start), (last, end) = token.start, token.end
            if line == last and (other := _other(token)):
                yield line, start, end, other
    except (tokenize.TokenError, SyntaxError):
        return


def _other(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NUMBER and token.string.isdecimal():
        return str(int(token.string) + 1) if len(token.string) < 10 else ""
    return SWAPS.get(token.string, "") if token.type in (tokenize.OP, tokenize.NAME) else ""


def _changed(code: str, line: int, start: int, end: int, other: str) -> str:
    lines = code.split("\n")  # as the tokens count them: `splitlines` ends lines within texts, too
    text = lines[line - 1]
    lines[line - 1] = f"{text[:start]}{other}{text[end:]}"
    return "\n".join(lines)
