"""One side's go in a turn: the pause before it, what is done to it, its reply, and what passes to the other side."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from experiments.workflows.arena.records import Filtered, Intervened, MessageFiltered, MessageReplaced
from experiments.workflows.arena.talk import Said, Talk, names, other, prompt_version
from experiments.workflows.base.filter import NOTHING_LEFT, filter_step, read_filter
from experiments.workflows.base.prompts import fenced, fill, version
from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import STOPPED, Ask, End, Listen, Outcome, Prompt, Step, numbered

KINDS = ("friend", "note", "alter")
NEXT_TURN = End("next_turn")  # never leaves this package: the rest of the turn is skipped
ACTIONS = ("send", "default", "skip", "next", "end")


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
    return {"friend": _phone_a_friend, "note": _tell, "message": _tell, "alter": _alter}[deed.kind](talk, deed)


def _tell(talk: Talk, deed: Deed) -> Doing:
    what = "a private note" if deed.kind == "note" else "a message for both sides"
    talk.deeds.append((deed.turn, f"The operator gave Model {deed.side} {what}: {deed.text}"))
    yield _record(deed, text=deed.text)
    return [fill(f"arena/{deed.kind}", text=deed.text)]


def _phone_a_friend(talk: Talk, deed: Deed) -> Doing:
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
    answer = yield Ask(
        key=f"{deed.key}/answer",
        seat="friend",
        purpose="friend",
        turn=deed.turn,
        messages=(Prompt("user", prompt),),
        params={"temperature": 0.7, "max_tokens": 2000},
        prompt_version=version("arena/friend", "arena/friend_says"),
    )
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


def _record(deed: Deed, **found: Any) -> Record:
    done = Intervened(key=deed.key, kind=deed.kind, seat=deed.side, turn=deed.turn, **found)
    source = f"{deed.key}/answer" if deed.kind == "friend" else ""
    return Record(deed.key, done, turn=deed.turn, source=source)


Going = Generator[Step, Outcome, End | None]


@dataclass(slots=True)
class Go:
    """One side's go. pauses and asked count what it has taken so far: their steps are numbered."""

    talk: Talk
    side: str
    turn: int
    private: list[str] = field(default_factory=list)
    pauses: int = 0
    asked: int = 0

    @property
    def base(self) -> str:
        return f"turn/{self.turn}/{self.side}"

    @property
    def begins(self) -> bool:
        """Whether this side opens the turn."""
        return self.side == self.talk.config.order(self.talk.cast)[0]

    def play(self) -> Going:
        for number, planned in enumerate(self.talk.config.planned(self.side, self.turn), 1):
            yield from self._do(f"{self.base}/planned/{number}", planned.kind, planned.text)
        if (line := self.talk.line) and line.is_for(self.side):
            yield from self._do(f"{self.base}/script", "message" if line.to == "both" else "note", line.text)
        error = ""
        while True:
            said: Outcome = yield from self._hear(error)
            if said.action == "end":
                return STOPPED
            if said.action in {"skip", "next"}:
                self.talk.skipped.add((self.turn, self.side))
                return NEXT_TURN if said.action == "next" else None
            key, reply = yield from self._ask(said)
            if reply.ok:
                return (yield from self._pass_on(key, reply))
            if said.passed:
                words = f"Model {self.side} gave no answer in turn {self.turn}. {reply.error}"
                return End(reply.error_kind, failed=True, message=words)
            error = reply.error

    def _hear(self, error: str) -> Generator[Step, Outcome, Outcome]:
        """What the operator says before this side speaks; interventions are done, and the pause comes again."""
        while True:
            self.pauses += 1
            key = numbered(f"{self.base}/prompt", self.pauses)
            said = yield Listen(
                key=key,
                reason="call_failed" if error else "turn_start" if self.begins else "model_completed",
                actions=(*ACTIONS, *self._possible()),
                default=self.talk.manual_prompt(self.side, self.private),
                seat=self.side,
                turn=self.turn,
                may_pass=True,
                error=error,
            )
            if said.action not in KINDS:
                return said
            yield from self._do(f"{key}/{said.action}", said.action, said.text)

    def _possible(self) -> Iterator[str]:
        """The interventions that can be made now."""
        missing = {"friend": "friend" not in self.talk.cast.seats, "alter": not self.talk.last_of(other(self.side))}
        return (kind for kind in KINDS if not missing.get(kind))

    def _do(self, key: str, kind: str, text: str) -> Generator[Step, Outcome, None]:
        self.private += yield from intervene(self.talk, Deed(key, kind, self.side, self.turn, text))

    def _ask(self, said: Outcome) -> Generator[Step, Outcome, tuple[str, Outcome]]:
        """Ask with what the operator was shown and said, or with the run's own messages when nobody was asked."""
        self.asked += 1
        key, talk = numbered(self.base, self.asked), self.talk
        if said.edited:
            talk.deeds.append((self.turn, f"The operator rewrote the prompt of Model {self.side}: {said.text}"))
        waits = said.passed and self.begins and self.turn > 1
        reply = yield Ask(
            key=key,
            seat=self.side,
            turn=self.turn,
            messages=talk.prompt_for(self.side, self.private) if said.passed else (Prompt("user", said.text),),
            params=talk.config.sampling(),
            prompt_version=prompt_version(),
            delay=talk.config.gap_seconds if waits else 0.0,
            draw=self.base,
            keeps_partial=said.passed,
        )
        return key, reply

    def _pass_on(self, key: str, reply: Outcome) -> Going:
        text = reply.text
        if not text.strip():
            text = NOTHING_LEFT
            yield Record(f"{key}/nothing", MessageReplaced(message=key, text=text), turn=self.turn)
        elif self.talk.config.filter:
            text = yield from self._filter(key, reply.text)
        if text == NOTHING_LEFT:
            instead = yield from self._replace_nothing(key)
            if isinstance(instead, End):
                return instead
            text = instead
        raw = reply.text or NOTHING_LEFT
        self.talk.said.append(Said(key, self.side, self.turn, raw, text, tuple(self.private), reply.reasoning))
        return None

    def _filter(self, key: str, original: str) -> Generator[Step, Outcome, str]:
        talk = self.talk
        context = talk.lines(before=self.turn + 1)
        outcome = yield filter_step(f"{key}/filter", talk.cast, f"Model {self.side}", original, context, self.turn)
        filtered = read_filter(outcome, original)
        found = MessageFiltered(message=key, text=filtered.text, filter=Filtered(**filtered.details))
        yield Record(f"{key}/filtered", found, turn=self.turn, source=f"{key}/filter")
        return filtered.text

    def _replace_nothing(self, key: str) -> Generator[Step, Any, str | End]:
        """The reply holds no words for the other side: what happens then is a setting."""
        if self.talk.config.when_empty == "stop":
            words = f"Model {self.side} said nothing to the other side in turn {self.turn}."
            return End("nothing_to_pass", message=words, stopped=True)
        if self.talk.config.when_empty == "placeholder":
            return NOTHING_LEFT
        said = yield Listen(
            key=f"{key}/empty",
            reason="nothing_to_pass",
            actions=("send", "default", "end"),
            default=NOTHING_LEFT,
            seat=self.side,
            turn=self.turn,
        )
        if said.action == "end":
            return STOPPED
        if said.text != NOTHING_LEFT:
            words = f"The operator had the empty message of Model {self.side} read: {said.text}"
            self.talk.deeds.append((self.turn, words))
            altered = Intervened(
                key=f"{key}/empty/alter",
                kind="alter",
                seat=other(self.side),
                turn=self.turn,
                text=said.text,
                original=NOTHING_LEFT,
                message_turn=self.turn,
                message_seat=self.side,
            )
            yield Record(altered.key, altered, turn=self.turn)
        return str(said.text)
