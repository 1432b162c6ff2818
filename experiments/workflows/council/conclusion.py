"""The third stage: the chair concludes; where it cannot, the next chair; where none can, the best ranked answer."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from experiments.workflows.base.flags import other_language
from experiments.workflows.base.prompts import version
from experiments.workflows.base.records import MessageSuperseded, Record, SeatReplaced
from experiments.workflows.base.steps import Ask, End, Outcome, Prompt, numbered
from experiments.workflows.council.chair import CHAIR, TOLD, prompt_for
from experiments.workflows.council.records import ConcludedByRank
from experiments.workflows.council.talk import Sitting

PATIENCE = 20.0  # seconds that a rate-limited chair is waited for where another one could conclude


@dataclass(frozen=True, slots=True)
class Failed:
    """Who could not conclude last, and why."""

    chair: str
    outcome: Outcome


Playing = Generator[Any, Any, Failed | None]


def conclude(sitting: Sitting) -> Playing:
    """One chair after the other, until one concludes. Returns the last one's failure when none did."""
    yield sitting.stage("conclusion")
    first = sitting.next_key("conclusion")
    failed: Failed | None = None
    for number, chair in enumerate(sitting.talk.chairs):
        key = f"{first}/{chair}" if number else first
        if failed:
            yield _replaced(sitting, numbered(f"{first}/instead", number), key, chair, failed)
        outcome: Outcome = yield _ask(sitting, key, chair)
        if outcome.ok:
            yield from _stands(sitting, key, outcome.text)
            return None
        failed = Failed(chair, outcome)
    return failed


def by_rank(sitting: Sitting, failed: Failed) -> Generator[Any, Any, End | None]:
    """Without a conclusion the best ranked answer stands in for it; without a ranking nothing does."""
    if not sitting.held.best:
        words = f"No chair could conclude, and there is no ranking to go by. {failed.outcome.error}"
        return End("no_conclusion", failed=True, message=words)
    seat = sitting.held.best[0]
    key = sitting.next_key("by-rank")
    best, reason = sitting.keys[seat], failed.outcome.error
    concluded = ConcludedByRank(key=key, turn=sitting.turn, seat=seat, message=best, reason=reason)
    yield Record(key, concluded, turn=sitting.turn)
    sitting.conclusion, sitting.concluded = "", sitting.answers[seat].text
    return None


def _stands(sitting: Sitting, key: str, text: str) -> Generator[Any, Any, None]:
    """The new conclusion takes the place of an earlier one to the same question."""
    if earlier := sitting.conclusion:
        yield Record(f"{earlier}/superseded", MessageSuperseded(message=earlier), turn=sitting.turn)
    sitting.conclusion, sitting.concluded = key, text


def _ask(sitting: Sitting, key: str, chair: str) -> Ask:
    return Ask(
        key=key,
        seat="chair",
        played_by="" if chair == "chair" else chair,
        turn=sitting.turn,
        purpose="conclusion",
        messages=(*sitting.talk.past, Prompt("user", prompt_for(sitting, key))),
        prompt_version=version(CHAIR, TOLD),
        patience=PATIENCE if chair != sitting.talk.chairs[-1] else None,
        inspect=lambda text: other_language(sitting.language, text),
    )


def _replaced(sitting: Sitting, place: str, key: str, chair: str, failed: Failed) -> Record:
    instead = {} if failed.chair == "chair" else {"instead_of": failed.chair}
    why = {"reason": failed.outcome.error_kind, "error": failed.outcome.error}
    replaced = SeatReplaced(key=key, seat="chair", by=chair, **why, **instead)
    return Record(place, replaced, turn=sitting.turn)
