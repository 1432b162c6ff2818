"""What is shown and handed out: ladders, votes, files."""

import json
from collections.abc import Iterator

from benchmarks.faults.facts import Facts


def ladders(facts: Facts) -> Iterator[str]:
    for ladder in facts.ladders:
        if ladder.wrong:
            yield f"ladder {ladder.name}: {ladder.wrong} counts of pairs differ from the battles"
        if ladder.shown != ladder.recomputed:
            yield f"ladder {ladder.name} shows something else than its record comes to"


def votes(facts: Facts) -> Iterator[str]:
    """Every vote that was acknowledged is there, as it was cast."""
    for battle, choice in facts.extra.get("votes", ()):
        if facts.votes.get(battle) != choice:
            yield f"the vote on battle {battle} was {choice}, and is {facts.votes.get(battle, 'missing')}"


def files(facts: Facts) -> Iterator[str]:
    """Whatever was handed out as a file is a whole one: of JSON Lines, each line."""
    for name, content in facts.extra.get("files", ()):
        if reason := _torn(content):
            yield f"{name}: {reason}"


def doubled(facts: Facts) -> Iterator[str]:
    yield from facts.extra.get("doubled", ())


def failures(facts: Facts) -> Iterator[str]:
    """Whatever is away, a request is turned away or told to come back; 500 is a fault of ours."""
    for status, times in facts.extra.get("troubles", {}).items():
        if status == "500":
            yield f"{times} requests were answered with {status}"


def _torn(content: str) -> str:
    if not content.endswith("\n"):
        return "its last line has no end"
    for number, line in enumerate(content.removesuffix("\n").split("\n"), 1):
        try:
            json.loads(line)
        except ValueError:
            return f"line {number} is no JSON"
    return ""
