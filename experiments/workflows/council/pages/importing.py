"""LLM Council: a conversation of its data/conversations, each question with its three stages.

The file holds no labels: answers were labelled in the order of their rows. Rankings are read anew from what the
reviewers wrote, because the original's parser counts answers that are merely mentioned. The sentences that it puts
in the place of a failed chair are stored as its failure.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from experiments.library.imports.drafts import Draft
from experiments.library.imports.formats import RunFormat
from experiments.library.imports.values import (
    Data,
    Taken,
    Unreadable,
    line,
    listed,
    mapping,
    mappings,
    moment,
    rest,
    slug,
    text,
)
from experiments.models.imports import ImportSource
from experiments.workflows.base.ballots import read_ballot
from experiments.workflows.base.labels import labels_for
from experiments.workflows.base.parsing import Unreadable as UnreadableAnswer
from experiments.workflows.council.config import MOST_MEMBERS, member
from experiments.workflows.council.counting import Ballot, leaders, standings

NO_CHAIR = re.compile(r"^error: unable to generate final synthesis\b", re.IGNORECASE)
NOBODY = re.compile(r"^all models failed to respond\b", re.IGNORECASE)
STAGES = ("stage1", "stage2", "stage3")
OF_CONVERSATION = ("id", "created_at", "title", "messages")
OF_ANSWER = ("role", *STAGES, "metadata")
UNTITLED = "New Conversation"
REASON = 500


def is_conversation(value: Any) -> bool:
    return any(name in one for one in mappings(mapping(value).get("messages")) for name in STAGES)


def read(value: Any, place: str = "") -> Taken:
    """Raises Unreadable."""
    said = mapping(value)
    messages = mappings(said.get("messages"))
    question = next((text(one.get("content")) for one in messages if one.get("role") == "user"), "")
    asked: Data = {"question": question.strip() or "(not in the file)", "own_answers": "included", "title": False}
    title = line(said.get("title"), 200)
    title = title if title and title != UNTITLED else line(question, 80) or "LLM Council"
    draft = Draft("council", title, asked)
    draft.seat("chair", _chair(messages))
    draft.lasted(moment(said.get("created_at")))
    if kept := rest(said, OF_CONVERSATION):
        draft.kept["conversation"] = kept
    turn = _Turns(draft, place).take(messages)
    if not turn:
        raise Unreadable(_("There is no conversation in it."), place)
    return Taken(place, draft.document(), tuple(draft.notes), draft.kept)


def _chair(messages: Sequence[Mapping[str, Any]]) -> Any:
    named = [mapping(one.get("stage3")).get("model") for one in messages]
    return next((name for name in named if isinstance(name, str) and name != "error"), None)


class _Turns:
    """Question by question. seats: of a model, one for each time that it answers in the same stage."""

    def __init__(self, draft: Draft, place: str) -> None:
        self.draft, self.place = draft, place
        self.seats: dict[tuple[str, int], str] = {}
        self.turn = 0

    def take(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """How many questions there are."""
        is_asked = False
        for number, one in enumerate(messages):
            if one.get("role") == "user":
                self._ask(text(one.get("content")))
                is_asked = True
            elif any(name in one for name in STAGES):
                if not is_asked:
                    self._ask("")
                self._answer(one)
                is_asked = False
            else:
                self.draft.keep("messages", dict(one), place=number)
        return self.turn

    def _ask(self, question: str) -> None:
        self.turn += 1
        self.draft.begun(self.turn)
        self.draft.sent(f"turn/{self.turn}/question", self.turn, "person", question, kind="question")

    def _answer(self, said: Mapping[str, Any]) -> None:
        answers = self._answers(mappings(said.get("stage1")))
        labels = self._labels(list(answers), mapping(mapping(said.get("metadata")).get("label_to_model")))
        self._reviews(mappings(said.get("stage2")), labels, answers)
        self._conclude(mapping(said.get("stage3")))
        self.draft.completed(self.turn)
        self.draft.keep("answers", rest(said, OF_ANSWER), turn=self.turn)

    def _answers(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """What was answered, by seat."""
        answers: dict[str, str] = {}
        if rows:
            self._stage("answers", 1)
        for row, seat in zip(rows, self._seated(rows), strict=True):
            words, key = text(row.get("response")), f"turn/{self.turn}/answer/{seat}"
            if not words.strip():
                self.draft.failed(key, self.turn, seat, "The answer is empty in the file.")
                continue
            self.draft.said(key, self.turn, seat, words, reasoning=_reasoning(row))
            answers[seat] = words
            self._keep(seat, row)
        return answers

    def _labels(self, seats: Sequence[str], told: Mapping[str, Any]) -> dict[str, str]:
        """Names under which the answers were shown, to seats: as the file says, else in the order of its rows."""
        names = {label: name for label, name in told.items() if isinstance(name, str)}
        by_model = {self.draft.cast[seat]: seat for seat in seats}
        if names and len(by_model) == len(seats) and {slug(name) for name in names.values()} == set(by_model):
            return {line(label, 40): by_model[slug(name)] for label, name in names.items()}
        if seats:
            self.draft.note(_("The file does not name the answers' labels; their order was used."))
        return dict(zip(labels_for(len(seats)), seats, strict=True))

    def _reviews(self, rows: Sequence[Mapping[str, Any]], labels: dict[str, str], answers: Mapping[str, str]) -> None:
        if not rows:
            return
        self._stage("reviews", 2)
        counted: list[Ballot] = []
        abstained: list[Data] = []
        for row, seat in zip(rows, self._seated(rows), strict=True):
            words = text(row.get("ranking")) or text(row.get("response"))
            ballot = self._ballot(row, words, labels, list(answers.values()))
            said = {"purpose": "review", "reasoning": _reasoning(row)}
            key = self.draft.said(f"turn/{self.turn}/review/{seat}", self.turn, seat, words, **said)
            row = {"reviewer": seat, "model": self.draft.cast[seat], "labels": labels, **ballot}
            self.draft.left(f"{key}/ballot", "ballot_read", self.turn, "ballot", "ballots", row)
            self._keep(seat, row)
            if ballot["order"]:
                counted.append(Ballot(seat, tuple(map(tuple, ballot["order"])), tuple(labels.values())))
            else:
                abstained.append({"reviewer": seat, "reason": ballot["abstained_reason"]})
        self._count(counted, abstained, list(answers))

    def _ballot(self, row: Mapping[str, Any], words: str, labels: Mapping[str, str], answers: Sequence[str]) -> Data:
        told = [text(label) for label in listed(row.get("parsed_ranking"))]
        try:
            ranked = read_ballot(words, list(labels), answers)
        except UnreadableAnswer as error:
            if told:
                self.draft.note(_("Where no ranking can be read, the one guessed by the original was left out."))
            return {"order": None, "abstained_reason": str(error)[:REASON]}
        if told and told != [label for group in ranked.order for label in group]:
            self.draft.note(_("Rankings were read again from the reviews; some differ from the original's."))
        order = [[labels[label] for label in group] for group in ranked.order]
        return {"order": order, "flags": list(ranked.flags), "reading": ranked.reading}

    def _count(self, counted: Sequence[Ballot], abstained: Sequence[Data], seats: Sequence[str]) -> None:
        ballots = [
            {"reviewer": one.reviewer, "order": [list(group) for group in one.order], "offered": list(one.offered)}
            for one in counted
        ]
        data = {"turn": self.turn, "count": 1, "seats": seats, "ballots": ballots, "abstained": abstained,
                "own_answers": "included", "skipped": "", "best": leaders(standings(seats, counted))}  # fmt: skip
        self.draft.step(f"turn/{self.turn}/count", "ballots_counted", self.turn, data=data)

    def _conclude(self, said: Mapping[str, Any]) -> None:
        words = text(said.get("response"))
        if not said:
            return
        self._stage("conclusion", 3)
        key = f"turn/{self.turn}/conclusion"
        if said.get("model") == "error" or NO_CHAIR.match(words) or NOBODY.match(words) or not words.strip():
            self.draft.note(_("Sentences that replace a failed answer were stored as errors."))
            self.draft.failed(key, self.turn, "chair", words or "The answer is empty in the file.", "conclusion")
            return
        if slug(said.get("model")) != self.draft.cast["chair"]:
            self.draft.note(_("More than one model was the chair. The transcript names the first one."))
            self.draft.kept.setdefault("chairs", []).append({"turn": self.turn, "model": said.get("model")})
        self.draft.said(key, self.turn, "chair", words, purpose="conclusion", reasoning=_reasoning(said))
        self._keep("chair", said)

    def _seated(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """The seat of each row. A model may be in the list twice: those are two seats."""
        seen: Counter[str] = Counter()
        found = []
        for row in rows:
            model = slug(row.get("model"))
            seen[model] += 1
            if (place := (model, seen[model])) not in self.seats:
                if len(self.seats) == MOST_MEMBERS:
                    said = _("More than %(most)s members take part, which is the limit here.")
                    raise Unreadable(said % {"most": MOST_MEMBERS}, self.place)
                self.seats[place] = member(len(self.seats) + 1)
                self.draft.seat(self.seats[place], model)
            found.append(self.seats[place])
        return found

    def _stage(self, name: str, number: int) -> None:
        self.draft.stage(f"turn/{self.turn}/stage/{name}", self.turn, name, number, of=3)

    def _keep(self, seat: str, row: Mapping[str, Any]) -> None:
        known = ("model", "response", "ranking", "parsed_ranking", "reasoning_details")
        self.draft.keep("rows", rest(row, known), turn=self.turn, seat=seat)


def _reasoning(row: Mapping[str, Any]) -> str:
    """Of `reasoning_details` the text; it is a text or a list of parts."""
    details = row.get("reasoning_details")
    parts = [text(one.get("text")) or text(one.get("summary")) for one in mappings(details)]
    return text(details) or "\n\n".join(filter(None, parts))


FORMAT = RunFormat(ImportSource.COUNCIL, 1, is_conversation, read)  # its messages look like nothing else
