"""What an operator does to one side before it speaks: a friend's advice, a private note, an altered message."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from experiments.workflows.arena.records import Intervened
from experiments.workflows.arena.talk import Talk, names, other
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, Outcome, Prompt, Step

PRIVATE_KINDS = ("friend", "note")
KINDS = (*PRIVATE_KINDS, "alter")


@dataclass(frozen=True, slots=True)
class Deed:
    """One intervention about to happen. key: sentence-like and unique, of the steps that it takes."""

    key: str
    kind: str
    side: str
    turn: int
    text: str


Doing = Generator[Step, Outcome, list[str]]


def intervene(talk: Talk, deed: Deed) -> Doing:
    """Do it and record it; returns what the side is told in private, nothing when its view was altered instead."""
    return {"friend": _phone_a_friend, "note": _tell, "alter": _alter}[deed.kind](talk, deed)


def _tell(talk: Talk, deed: Deed) -> Doing:
    talk.deeds.append((deed.turn, f"The operator gave Model {deed.side} a private note: {deed.text}"))
    yield _record(deed, text=deed.text)
    return [fill("arena/note", text=deed.text)]


def _phone_a_friend(talk: Talk, deed: Deed) -> Doing:
    answer = yield _ask_friend(talk, deed)
    if not answer.ok or not answer.text.strip():
        reason = answer.error or "the friend answered with no text"
        talk.deeds.append((deed.turn, f"The operator had Model {deed.side} ask a friend, who gave no answer."))
        yield _record(deed, question=deed.text, text="", missed=f"The friend gave no answer: {reason}")
        return []
    told = f"The operator had Model {deed.side} ask a friend: {deed.text}\nThe friend answered: {answer.text}"
    talk.deeds.append((deed.turn, told))
    yield _record(deed, question=deed.text, text=answer.text)
    return [fill("arena/friend_says", question=deed.text, answer=answer.text)]


def _alter(talk: Talk, deed: Deed) -> Doing:
    """The other side's last message reads differently, for this side, from now on."""
    heard = talk.last_of(other(deed.side))
    if heard is None:
        yield _record(deed, text=deed.text, missed="There was no message yet that could be altered.")
        return []
    original, heard.text = heard.text, deed.text
    words = f"The operator altered what Model {deed.side} read, from: {original}\nto: {deed.text}"
    talk.deeds.append((deed.turn, words))
    yield _record(deed, text=deed.text, original=original, message_turn=heard.turn, message_seat=heard.side)
    return []


def _ask_friend(talk: Talk, deed: Deed) -> Ask:
    token = talk.cast.fence(deed.key)
    history = "\n\n".join(talk.lines(before=deed.turn + 1)) or "(nothing has been said yet)"
    prompt = fill(
        "arena/friend",
        **names(deed.side),
        token=token,
        instructions=fenced("instructions", talk.config.instructions(deed.side), token),
        history=fenced("conversation", history, token),
        question=deed.text,
    )
    return Ask(
        key=f"{deed.key}/answer",
        seat="friend",
        purpose="friend",
        turn=deed.turn,
        messages=(Prompt("user", prompt),),
        params={"temperature": 0.7, "max_tokens": 2000},
        prompt_version=version("arena/friend", "arena/friend_says"),
    )


def _record(deed: Deed, **found: Any) -> Record:
    done = Intervened(key=deed.key, kind=deed.kind, seat=deed.side, turn=deed.turn, **found)
    source = f"{deed.key}/answer" if deed.kind == "friend" else ""
    return Record(deed.key, done, turn=deed.turn, source=source)
