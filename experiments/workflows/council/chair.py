"""What the chair is told: the question, every answer and review by member, and what the ballots come to."""

from experiments.workflows.base.masking import masked
from experiments.workflows.base.prompts import fenced, fill
from experiments.workflows.council.counting import Standing
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
        answers=_answers(sitting, held, token),
        reviews=_reviews(sitting, held, token),
        ranking=fenced("ranking", _ranking(held), token),
    )


def _answers(sitting: Sitting, held: Deliberation, token: str) -> str:
    """By the number of the member: the chair, too, judges what is said and not who says it."""
    return "\n\n".join(_answer(sitting, held, seat, token) for seat in sitting.talk.members)


def _answer(sitting: Sitting, held: Deliberation, seat: str, token: str) -> str:
    if not sitting.has_answered(seat):
        return f"{called(seat)} gave no answer that could be ranked."
    late = "" if seat in held.seats else ", given after the ranking, so that nobody has reviewed it"
    text = fenced(seat.replace("member", "answer"), anonymous(sitting, seat), token)
    return f"{called(seat)}'s answer{late}:\n{text}"


def _reviews(sitting: Sitting, held: Deliberation, token: str) -> str:
    reviewers = [seat for seat in held.seats if seat in held.reviews]
    return "\n\n".join(_review(sitting, held, seat, token) for seat in reviewers) or "There are none."


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
    if one.mean_rank is None or one.borda is None:
        return f"{place}. {called(one.seat)} (answer {one.seat.rpartition('-')[2]}): not ranked by anybody"
    named = f"named on {one.votes} ballot{'' if one.votes == 1 else 's'}"
    figures = f"mean rank {one.mean_rank:.2f}, {named}, Borda {one.borda:.2f} (0 is always last, 1 always first)"
    return f"{place}. {called(one.seat)} (answer {one.seat.rpartition('-')[2]}): {figures}"
