"""The second stage: every member who has answered ranks the answers of the others without knowing whose they are."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from experiments.workflows.base.ballots import Ranked, read_ballot, read_repaired
from experiments.workflows.base.flags import other_language
from experiments.workflows.base.json_reader import Missing, find_json
from experiments.workflows.base.masking import masked
from experiments.workflows.base.parsing import Unreadable, plain
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, Outcome, Prompt
from experiments.workflows.council.counting import Ballot, includes_own, shown
from experiments.workflows.council.records import Abstention, BallotRead, BallotsCounted, CountedBallot
from experiments.workflows.council.talk import Deliberation, Sitting

REVIEW, REPAIR = "council/review", "council/repair"
LONGEST_REASON = 500
REPAIRED = "repaired"

Playing = Generator[Any, Any, None]


def deliberate(sitting: Sitting) -> Playing:
    """Everybody ranks the answers that there are now; what was ranked before counts no more."""
    seats, before = sitting.survivors, sitting.deliberation
    held = sitting.deliberation = Deliberation(before.number + 1 if before else 1, seats)
    if len(seats) > 1:
        yield sitting.stage("reviews")
        random = sitting.talk.cast.random(f"{sitting.base}/order/{held.number}")
        held.with_own = includes_own(seats, sitting.talk.config.own_answers)
        held.offered = shown(seats, random, with_own=held.with_own)
        yield [Review(sitting, held, seat).play() for seat in seats]
    yield count(sitting, held)


def review_again(sitting: Sitting, reviewer: str) -> Playing:
    """One reviewer once more, shown the same in the same order; then the ballots are counted anew."""
    held = sitting.held
    held.abstained.pop(reviewer, None)
    yield from Review(sitting, held, reviewer).play()
    yield count(sitting, held)


def count(sitting: Sitting, held: Deliberation) -> Record:
    """The fact on which everything that is computed of the ballots rests."""
    ballots = [held.ballots[seat] for seat in held.seats if seat in held.ballots]
    counted = BallotsCounted(
        turn=sitting.turn,
        count=held.number,
        seats=list(held.seats),
        ballots=[
            CountedBallot(reviewer=one.reviewer, order=[list(group) for group in one.order], offered=list(one.offered))
            for one in ballots
        ],
        abstained=[
            Abstention(reviewer=seat, reason=held.abstained[seat]) for seat in held.seats if seat in held.abstained
        ],
        own_answers="included" if held.with_own else "excluded",
        skipped=held.skipped,
        best=held.best,
    )
    return Record(sitting.next_key("count"), counted, turn=sitting.turn)


@dataclass(slots=True)
class Review:
    """One reviewer's way to a ballot: a review, one more call where its ranking cannot be read, or an abstention."""

    sitting: Sitting
    held: Deliberation
    reviewer: str
    key: str = ""

    @property
    def labels(self) -> dict[str, str]:
        return self.held.labels(self.reviewer)

    def play(self) -> Playing:
        self.key = self.sitting.next_key(f"review/{self.reviewer}")
        answers = {label: anonymous(self.sitting, seat) for label, seat in self.labels.items()}
        outcome: Outcome = yield self._ask(answers)
        if not outcome.ok:
            yield self._abstain(outcome.error or "It gave no review.")
            return
        self.held.reviews[self.reviewer] = words(outcome.text)
        try:
            ranked = read_ballot(outcome.text, list(self.labels), answers.values())
        except Unreadable as why:
            yield from self._repair(outcome, why)
        else:
            yield self._vote(ranked, ranked.reading, self.key)

    def _repair(self, unread: Outcome, why: Unreadable) -> Playing:
        key = f"{self.key}/repair"
        outcome: Outcome = yield self._ask_for_ranking(key, unread.text, why)
        try:
            if not outcome.ok:
                raise Unreadable(outcome.error)
            ranked = read_repaired(outcome.text, list(self.labels))
        except Unreadable as again:
            reason = f"The ranking in its review could not be read: {why}. Asked for it once more: {again}."
            yield self._abstain(reason, source=key, is_written=True)
        else:
            yield self._vote(ranked, REPAIRED, key)

    def _ask(self, answers: Mapping[str, str]) -> Ask:
        token = self.sitting.talk.cast.fence(self.key)
        criteria = self.sitting.talk.config.criteria.strip()
        prompt = fill(
            REVIEW,
            token=token,
            question=fenced("question", self.sitting.question, token),
            answers="\n\n".join(
                f"{label}:\n{fenced(label.replace('Response ', 'response-'), text, token)}"
                for label, text in answers.items()
            ),
            criteria=f"\nWhoever asks gives these criteria for the ranking:\n{criteria}\n" if criteria else "",
            labels=_listed(list(answers)),
        )
        return Ask(
            key=self.key,
            seat=self.reviewer,
            turn=self.sitting.turn,
            purpose="review",
            messages=(*self.sitting.talk.past, Prompt("user", prompt)),
            schema=_schema(list(answers), with_review=True),
            if_native=True,
            prompt_version=version(REVIEW),
            inspect=lambda text: other_language(self.sitting.language, words(text)),
        )

    def _ask_for_ranking(self, key: str, review: str, why: Unreadable) -> Ask:
        token = self.sitting.talk.cast.fence(key)
        prompt = fill(
            REPAIR,
            token=token,
            labels=_listed(list(self.labels)),
            reason=why,
            review=fenced("review", words(review), token),
        )
        return Ask(
            key=key,
            seat=self.reviewer,
            turn=self.sitting.turn,
            purpose="repair",
            messages=(Prompt("user", prompt),),
            schema=_schema(list(self.labels), with_review=False),
            params={"temperature": 0.0},
            prompt_version=version(REPAIR),
        )

    def _vote(self, ranked: Ranked, reading: str, source: str) -> Record:
        labels = self.labels
        order = tuple(tuple(labels[label] for label in place) for place in ranked.order)
        self.held.ballots[self.reviewer] = Ballot(self.reviewer, order, tuple(labels.values()))
        found = {"order": [list(place) for place in order], "flags": list(ranked.flags), "reading": reading}
        return self._ballot(source, message=self.key, abstained_reason="", **found)

    def _abstain(self, reason: str, *, source: str = "", is_written: bool = False) -> Record:
        reason = reason[:LONGEST_REASON]
        self.held.abstained[self.reviewer] = reason
        message = self.key if is_written else None
        found: dict[str, Any] = {"order": None, "flags": [], "reading": ""}
        return self._ballot(source or self.key, message=message, abstained_reason=reason, **found)

    def _ballot(self, source: str, **found: Any) -> Record:
        ballot = BallotRead(reviewer=self.reviewer, count=self.held.number, labels=self.labels, **found)
        return Record(f"{self.key}/ballot", ballot, turn=self.sitting.turn, source=source)


def anonymous(sitting: Sitting, seat: str) -> str:
    """A member's answer without the names of its model."""
    return masked(sitting.answers[seat].text, sitting.talk.names(seat), sitting.question)


def words(review: str) -> str:
    """What a reviewer wrote; of a structured answer, the assessment in it."""
    found = find_json(review, ("review",))
    if isinstance(found, Missing) or isinstance(found.value, list) or not found.is_whole:
        return review
    return plain(found.value["review"]) or review


def _schema(labels: list[str], *, with_review: bool) -> dict[str, Any]:
    ranking = {"type": "array", "items": {"type": "string", "enum": labels}}
    properties = {**({"review": {"type": "string"}} if with_review else {}), "ranking": ranking}
    closed = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **closed}


def _listed(labels: list[str]) -> str:
    return f"{', '.join(labels[:-1])} and {labels[-1]}"
