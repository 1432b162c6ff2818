"""Contests of coding: two problems, each told in ten settings, their solutions and the slips of weaker models."""

import heapq
import inspect
import json
import re
from collections.abc import Callable
from functools import cache
from itertools import product
from random import Random
from typing import Any, Final, NamedTuple

from experiments.gateway.simulated.request import Request
from experiments.gateway.simulated.text import Pen

SHOWN, TESTS = 5, 12
SETTINGS: Final = (  # place, thing, actor
    *("harbor crane pilot", "library press binder", "observatory telescope astronomer", "bakery oven baker"),
    *("theater stage director", "clinic scanner nurse", "airfield runway controller", "brewery kettle brewer"),
    *("school hall teacher", "farm tractor driver"),
)
_OTHER_NAMES: Final = {"place": ("index", "spot"), "now": ("moment", "time"), "best": ("top", "sums")}
_NEEDED, _LUCK = 0.5, 0.13  # the strength with which half of the solutions are right, and the spread of each try


def schedule(bookings: list[list[int]], gap: int) -> int:
    ordered = sorted(bookings, key=lambda booking: booking[1])
    best = [0]
    for place, (start, _, worth) in enumerate(ordered):
        # How many earlier bookings end early enough: the best choice among them is known.
        before = sum(1 for _, end, _ in ordered[:place] if end + gap <= start)
        best.append(max(best[-1], best[before] + worth))
    return best[-1]


def arrive(count: int, roads: list[list[int]], start: int) -> int:
    queue, seen = [(start, 0)], set()
    while queue:
        now, place = heapq.heappop(queue)
        if place == count - 1:
            return now
        for one, two, minutes, period in roads if place not in seen else []:
            if place in (one, two):
                # In the second half of a round the gate is closed.
                is_closed = period > 0 and now % (2 * period) >= period
                wait = -now % (2 * period) if is_closed else 0
                heapq.heappush(queue, (now + wait + minutes, one + two - place))
        seen.add(place)
    return -1


def _rows(rng: Random, least: int, most: int, *sizes: int) -> list[list[int]]:
    return [[rng.randrange(size) for size in sizes] for _ in range(rng.randint(least, most))]


class ProblemTemplate(NamedTuple):
    """draw: the arguments of a test. slips: `what is right -> what a weaker model writes instead`, one a line."""

    solve: Callable[..., Any]
    title: str
    text: str
    why: str
    slips: str
    draw: Callable[[Random], list[Any]]


TEMPLATES: Final = (
    ProblemTemplate(
        schedule,
        "One {thing}, many {actor}s",
        "At the {place} every {actor} wants the {thing}. bookings lists up to 50 wishes of a {actor}, [start, end, "
        "worth], in minutes of the {place}, 0 to 1000, with start < end. The {thing} serves one {actor} at a time, and "
        "after each {actor} the {thing} needs gap minutes, 0 to 60, before the next {actor} may start. Return the "
        "greatest sum of worth that the {place} can reach; without a {actor} the {thing} earns 0.",
        "Bookings are sorted by their end; for each one the largest sum with and without it is kept: O(n^2) time.",
        "+ gap <= -> + gap <\nmax(best[-1], best[before] + worth) -> best[before] + worth\nend + gap -> end",
        lambda rng: [[[a, a + 1 + b, 1 + c] for a, b, c in _rows(rng, 0, 9, 25, 9, 20)], rng.randrange(4)],
    ),
    ProblemTemplate(
        arrive,
        "The {actor}'s way through the {place}",
        "A {actor} carries a {thing} through the {place}, from hall 0 to hall count - 1 (count is 1 to 20). roads has "
        "[a, b, minutes, period]: a {actor} with a {thing} takes so many minutes, in both directions. The gate of the "
        "{place} in front of it lets a {actor} in at minute t if period is 0 or t mod (2 * period) < period; else the "
        "{thing} waits. The {actor} begins at minute start. Return when the {thing} arrives first, or -1 if never.",
        "Whoever arrives earlier is never worse off, so Dijkstra's algorithm applies: O(R^2 log R) for R roads.",
        "+ wait + minutes -> + minutes\nin (one, two) -> == one\n>= period -> > period",
        lambda rng: [5, [[a, b, 1 + m, p] for a, b, m, p in _rows(rng, 5, 12, 5, 5, 9, 6) if a != b], rng.randrange(9)],
    ),
)


def _told(text: str, place: str, thing: str, actor: str) -> str:
    return re.sub(r"\b([Aa])(?= [aeiou])", r"\1n", text.format(place=place, thing=thing, actor=actor))


@cache
def problems() -> dict[str, tuple[dict[str, object], ProblemTemplate]]:
    """By title: a problem as its setter gives it, and the template of which it was made."""
    found: dict[str, tuple[dict[str, object], ProblemTemplate]] = {}
    for template, setting in product(TEMPLATES, SETTINGS):
        title, text = (_told(one, *setting.split()) for one in (template.title, template.text))
        name, rng, tests = template.solve.__name__, Random(title), dict[str, str]()
        while len(tests) < TESTS:
            arguments = template.draw(rng)
            tests[json.dumps(arguments)] = json.dumps(template.solve(*arguments))
        listed = [{"input": given, "expected_output": expected} for given, expected in tests.items()]
        function, shown = f"{name}_{setting.split()[1]}", title[0].upper() + title[1:]
        code = inspect.getsource(template.solve).replace(name, function, 1)
        problem: dict[str, object] = {
            "title": shown,
            "description": text,
            "function_name": function,
            "comparison": "exact",
            "test_cases": listed[:SHOWN],
            "hidden_test_cases": listed[SHOWN:],
            "evaluation_criteria": ["The ends of every range are right.", "The cost fits the size of the inputs."],
            "reference_solution": f"import heapq\n\n\n{code}" if "heapq" in code else code,
        }
        found[shown] = problem, template
    return found


def set_problem(request: Request, pen: Pen) -> dict[str, object]:
    """One that was not set before, as long as there are any."""
    used = "\n".join(request.prompt.fences.get(name, "") for name in ("earlier", "answer"))
    fresh = [title for title in problems() if title not in used]
    return problems()[pen.rng.choice(fresh or [*problems()])][0]


def solve_problem(request: Request, pen: Pen) -> dict[str, object]:
    """As well as the model can; a problem from elsewhere gets a function that gives back its first argument."""
    name, strength = request.behaviour.name, request.behaviour.personality.strength
    title = request.prompt.fences.get("problem", "").partition("\n")[0]
    if title not in problems():
        named = re.search(r"\bdefines the function (\w+)", request.prompt.instructions)
        code = f"def {named[1] if named else 'solve'}(*given):\n    return given[0]\n"
        return {"solution_code": code, "explanation": "I found no way to solve it: the first argument is returned."}
    (problem, template), manner = problems()[title], Random(name)
    code = str(problem["reference_solution"])
    if strength + pen.rng.gauss(0, _LUCK) < _NEEDED:
        slips = f"{template.slips}\nreturn -> return finished and"
        before, after = pen.rng.choice(slips.splitlines()).split(" -> ")
        code = code.replace(before, after)
    for word, others in _OTHER_NAMES.items():
        code = re.sub(rf"\b{word}\b", manner.choice((word, *others)), code)
    code = re.sub(r" *# .*\n", "", code) if manner.random() < 0.5 else code
    return {"solution_code": code, "explanation": template.why}
