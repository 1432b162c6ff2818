"""A debate, summed up: what to do and what to leave, each with the points that it rests on."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from experiments.gateway.simulated.debate import fitting
from experiments.gateway.simulated.phrasing import Pen
from experiments.gateway.simulated.points import Point, read_points
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.subject import Subject
from experiments.gateway.simulated.voices import load_voice

_RECOMMENDED, _DISCOURAGED = 3, 2
_SCEPTIC: Final = "B"


def summarize(prompt: Prompt, seed: int) -> dict[str, list[dict[str, Any]]]:
    """{recommended, discouraged}: items with id, contents and sources; no sources where the prompt has no points."""
    subject = Subject.of(prompt.fences.get("task", prompt.scenario))
    pen = subject.pen(Random(seed))
    points = read_points(prompt)
    if not points:
        return _from_nothing(subject, pen)
    voice = load_voice(subject.language, "summary")
    doubts = _first(pen, points, lambda point: point.speaker == _SCEPTIC and not point.is_counterpoint)
    rest = [point for point in points if point not in doubts[:_DISCOURAGED]] or points
    ideas = _first(pen, rest, lambda point: point.speaker != _SCEPTIC and not point.is_counterpoint)

    def item(part: str, name: str, number: int, point: Point) -> dict[str, Any]:
        other = doubts[number % len(doubts)].reference
        given = {"ref": point.reference, "quote": point.quote(14), "other": other}
        contents = fitting(lambda: pen.say(voice, part, **given))
        sources = [point.reference] + [other] * (other != point.reference and other in contents)
        return {"id": f"{name}_{number}", "contents": contents, "sources": sources}

    def items(part: str, name: str, count: int, chosen: list[Point]) -> list[dict[str, Any]]:
        return [item(part, name, n, chosen[(n - 1) % len(chosen)]) for n in range(1, count + 1)]

    return {
        "recommended": items("recommended", "action", _RECOMMENDED, ideas),
        "discouraged": items("discouraged", "avoid", _DISCOURAGED, doubts),
    }


def _first(pen: Pen, points: list[Point], is_wanted: Callable[[Point], bool]) -> list[Point]:
    """All points in a drawn order, the wanted ones first."""
    mixed = pen.rng.sample(points, len(points))
    return sorted(mixed, key=lambda point: not is_wanted(point))


def _from_nothing(subject: Subject, pen: Pen) -> dict[str, list[dict[str, Any]]]:
    voices = {name: load_voice(subject.language, f"debater-{name}") for name in "AB"}

    def items(part: str, name: str, count: int) -> list[dict[str, Any]]:
        texts = [fitting(lambda: pen.say(voices[part], "perspective")) for _ in range(count)]
        return [{"id": f"{name}_{n}", "contents": text, "sources": []} for n, text in enumerate(texts, 1)]

    return {"recommended": items("A", "action", _RECOMMENDED), "discouraged": items("B", "avoid", _DISCOURAGED)}
