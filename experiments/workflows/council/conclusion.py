"""The third stage: the chair concludes; where it cannot, the next chair; where none can, the best ranked answer."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from experiments.workflows.base.flags import other_language
from experiments.workflows.base.masking import masked
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import MessageSuperseded, Record, SeatReplaced
from experiments.workflows.base.steps import Ask, End, Outcome, Prompt, numbered
from experiments.workflows.council.counting import Standing
from experiments.workflows.council.records import ConcludedByRank
from experiments.workflows.council.reviews import anonymous
from experiments.workflows.council.talk import Deliberation, Sitting, called

CHAIR, TOLD = "council/chair", "council/told"
NO_RANKING = {
    "one_answer": "There is none: only one member has answered, so that there was nothing to rank.",
    "no_ballots": "There is none: no reviewer gave a ranking that could be read. Nothing is known of what the members "
    "think of each other's answers but what the reviews say.",
}


def prompt_for(sitting: Sitting, key: str) -> str:
    held = sitting.held
    token = sitting.talk.cast.fence(key)
    system = sitting.talk.config.system_prompt
    return fill(
        CHAIR,
        token=token,
        question=fenced("question", sitting.question, token),
        told=f"\n{fill(TOLD, system=fenced('told', system, token))}\n" if system.strip() else "",
        # By the number of the member: the chair, too, judges what is said and not who says it.
        answers="\n\n".join(_answer(sitting, held, seat, token) for seat in sitting.talk.members),
        reviews="\n\n".join(_review(sitting, held, seat, token) for seat in held.seats if seat in held.reviews)
        or "There are none.",
        ranking=fenced("ranking", _ranking(held), token),
    )


def _answer(sitting: Sitting, held: Deliberation, seat: str, token: str) -> str:
    if not sitting.has_answered(seat):
        return f"{called(seat)} gave no answer that could be ranked."
    late = "" if seat in held.seats else ", given after the ranking, so that nobody has reviewed it"
    text = fenced(seat.replace("member", "answer"), anonymous(sitting, seat), token)
    return f"{called(seat)}'s answer{late}:\n{text}"


def _review(sitting: Sitting, held: Deliberation, reviewer: str, token: str) -> str:
    text = masked(held.reviews[reviewer], sitting.talk.names(reviewer), sitting.question)
    shown = [f"{label} is {called(seat)}" for label, seat in held.labels(reviewer).items()]
    vote = "" if reviewer in held.ballots else " Its ranking could not be read, and counts for nothing."
    return f"{called(reviewer)}'s review. {', '.join(shown)}.{vote}\n{fenced(f'review-of-{reviewer}', text, token)}"


def _ranking(held: Deliberation) -> str:
    """A line for each answer, the best first, and the rules by which it was counted."""
    if held.skipped:
        return NO_RANKING[held.skipped]
    count = len(held.ballots)
    lines = [_line(place, standing) for place, standing in enumerate(held.standings, 1)]
    own = "with their own" if held.with_own else "without their own"
    rules = f"{count} of {len(held.seats)} reviewers gave a ranking; they ranked the answers {own}."
    return "\n".join([*lines, rules])


def _line(place: int, one: Standing) -> str:
    answer = f"{place}. {called(one.seat)} (answer {one.seat.rpartition('-')[2]})"
    if one.mean_rank is None or one.borda is None:
        return f"{answer}: not ranked by anybody"
    named = f"named on {one.votes} ballot{'' if one.votes == 1 else 's'}"
    return f"{answer}: mean rank {one.mean_rank:.2f}, {named}, Borda {one.borda:.2f} (0 is always last, 1 always first)"


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
            instead = {} if failed.chair == "chair" else {"instead_of": failed.chair}
            why = {"reason": failed.outcome.error_kind, "error": failed.outcome.error}
            replaced = SeatReplaced(key=key, seat="chair", by=chair, **why, **instead)
            yield Record(numbered(f"{first}/instead", number), replaced, turn=sitting.turn)
        outcome: Outcome = yield _ask(sitting, key, chair)
        if outcome.ok:
            if earlier := sitting.conclusion:  # to the same question: the new one takes its place
                yield Record(f"{earlier}/superseded", MessageSuperseded(message=earlier), turn=sitting.turn)
            sitting.conclusion, sitting.concluded = key, outcome.text
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
