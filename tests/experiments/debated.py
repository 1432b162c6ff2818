"""What models of a debate could answer, and a debate played without models."""

import json
from typing import Any

from experiments.workflows import debate
from experiments.workflows.base.replay import passed
from experiments.workflows.base.steps import Ask, Cast, Listen, Outcome, Seat

REQUEST = "How should our lab share one telescope among four groups?"


def brief(**changed: Any) -> str:
    given = {
        "objective": "Share one telescope fairly among the four groups of the lab.",
        "context": "There is one telescope and there are four groups that want to use it.",
        "preferences": ["A rule that everybody understands."],
        "missing": ["How many clear nights there are in a month."],
        "clarifying_questions": ["Who pays for the repairs?"],
    }
    return json.dumps({**given, **changed})


def points(who: str, new: int = 3, counter: int = 0, /, **changed: Any) -> str:
    perspectives = [
        {"id": f"p{n}", "contents": f"Perspective {n} of {who}: let the nights be given out by lot."}
        for n in range(1, new + 1)
    ]
    counterpoints = [
        {"id": f"c{n}", "contents": f"Counterpoint {n} of {who}: a lottery ignores the weather."}
        for n in range(1, counter + 1)
    ]
    given = {"speaker": who, "new_perspectives": perspectives, "counterpoints": counterpoints}
    return json.dumps({**given, **changed})


def actions(*sources: str, **changed: Any) -> str:
    recommended = [{"id": "action_1", "contents": "Give out the nights by lot.", "sources": list(sources or ["A1.p1"])}]
    return json.dumps({"recommended": recommended, "discouraged": [], **changed})


ROUND_1 = {"A": points("A"), "B": points("B", 3, 2), "C": points("C", 3, 2)}
ROUND_2 = {seat: points(seat, 2, 2) for seat in "ABC"}


def well(ask: Ask) -> Outcome:
    """Everybody answers as they were asked to."""
    if ask.purpose == "refinement":
        return Outcome(text=brief())
    if ask.purpose == "summary":
        return Outcome(text=actions())
    return Outcome(text=(ROUND_1 if ask.turn == 1 else ROUND_2)[ask.seat])


def failed(kind: str = "overloaded", error: str = "The provider is overloaded.") -> Outcome:
    return Outcome(ok=False, error_kind=kind, error=error)


def cast(*pool: str) -> Cast:
    seats = {seat: Seat(seat) for seat in ("refiner", "A", "B", "C", "summarizer")}
    spare = {f"pool-{n}": Seat(f"pool-{n}", called=(name,)) for n, name in enumerate(pool, 1)}
    return Cast(seats | spare, seed=5)


def play(answer=well, says=None, *, seated=None, **config):
    """All steps of a debate and how it ended. answer: what becomes of an Ask. says: pause keys to what a person says
    there, an action or (action, text); where nothing is planned the pause is passed, and an offer ends it.
    """
    run = debate.run(debate.Config(**{"prompt": REQUEST, **config}), seated or cast())
    steps: list[Any] = []
    outcome = None
    while True:
        try:
            step = run.send(outcome)
        except StopIteration as stop:
            return steps, stop.value
        assert step.key not in {before.key for before in steps}, f"{step.key} twice"
        steps.append(step)
        if isinstance(step, Listen):
            outcome = _said(step, (says or {}).get(step.key))
            if outcome is None:
                return steps, None
        else:
            outcome = answer(step) if isinstance(step, Ask) else Outcome()


def _said(pause, planned):
    if planned is None:
        return None if pause.is_offer else passed(pause)
    action, text = (planned, pause.default) if isinstance(planned, str) else planned
    return Outcome(action=action, text=text)


def answering(**by_key):
    """Outcomes, texts or lists of them by the keys of their steps, with `__` for `/`; the others answer well."""

    def answer(ask):
        given = by_key.get(ask.key.replace("/", "__"))
        if given is None:
            return well(ask)
        return given if isinstance(given, Outcome) else Outcome(text=given)

    return answer


def step(steps, key):
    [found] = [each for each in steps if each.key == key]
    return found


def asked(steps, key):
    """The words of a question, system and user."""
    return "\n\n".join(prompt.content for prompt in step(steps, key).messages)


def parsed(steps, key):
    return step(steps, f"{key}/parsed").data


RATE_LIMITED = failed("rate_limited", "Too many requests.")


def keys(steps):
    return [each.key for each in steps]


def calls(steps):
    return [each.key for each in steps if isinstance(each, Ask)]


def rate_limited(*keys_):
    return lambda ask: RATE_LIMITED if ask.key in keys_ else well(ask)
