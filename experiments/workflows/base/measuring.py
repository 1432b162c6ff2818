"""Judges asked by an instrument: about a unit of a transcript, of a run that is played or of one that is there already.

What they say becomes annotations. `Chosen` is the instrument in the Config of a run that is played; `measured_beside`
has a workflow's messages measured without a line in its rules.
"""

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationInfo, field_validator

from experiments.workflows.base.events import EventData, Number, Part, Seat
from experiments.workflows.base.instruments import Definition, prompt_parts, read_reply, reply_schema, version_of
from experiments.workflows.base.material import Sees, Unit
from experiments.workflows.base.records import (
    Finding,
    JudgeEvaluationStarted,
    MessageSent,
    MessageSuperseded,
    Projection,
    Record,
    StageStarted,
    TurnCompleted,
)
from experiments.workflows.base.replay import STEPS
from experiments.workflows.base.steps import (
    Ask,
    Cast,
    End,
    Excerpt,
    Listen,
    Outcome,
    Play,
    Prompt,
    Step,
    numbered,
)

ANNOTATIONS = Projection("annotations")
OF_RUN = "run/judge"  # how the keys of steps begin that measure a run as a whole

Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
Title = Annotated[str, StringConstraints(max_length=120)]


class Instrument(BaseModel):
    """An instrument in a configuration. version: its id; definition: what it asks, which is frozen here."""

    CHOSEN_BY: ClassVar[tuple[str, ...]] = ("version",)  # in the form of a configuration, which freezes the rest
    model_config = ConfigDict(extra="forbid")

    version: Id
    title: Title = ""
    definition: Definition


class Chosen(Instrument):
    """The instrument of the judge of a run that is played. UNITS: what can be judged then."""

    UNITS: ClassVar[tuple[Unit, ...]] = ("message", "pair", "turn", "run")

    @field_validator("definition", mode="after")
    @classmethod
    def _can_be_asked_live(cls, definition: Definition) -> Definition:
        if definition.unit == "span":
            raise ValueError("An instrument for spans can only scan runs that are over.")
        if definition.unit not in cls.UNITS:
            raise ValueError("An instrument for pairs needs messages in order; these are written side by side.")
        return definition


class ChosenSideBySide(Chosen):
    """That of a run whose models answer side by side, so that no message is the one before another."""

    UNITS = ("message", "turn", "run")


def units_of(config: type[BaseModel]) -> tuple[Unit, ...]:
    """Of the instruments that a Config takes for its judge."""
    kinds = (config.model_fields["instrument"].annotation, *get_args(config.model_fields["instrument"].annotation))
    return next(kind.UNITS for kind in kinds if isinstance(kind, type) and issubclass(kind, Chosen))


class JudgedByInstrument(BaseModel):
    """The part of a Config by which a run has a judge that measures its messages. instrument: what the judge measures,
    by its own prompt and limits; without `judge` nothing is measured.
    """

    judge: bool = False
    instrument: Chosen | None = Field(None, validate_default=True)

    @field_validator("instrument", mode="after")
    @classmethod
    def something_is_measured(cls, chosen: Chosen | None, about: ValidationInfo) -> Chosen | None:
        if chosen is None and about.data.get("judge"):
            raise ValueError("Choose the instrument by which the judge measures.")
        return chosen

    @property
    def judges(self) -> tuple[str, ...]:
        """The seat of the judge, where there is one."""
        return ("judge",) if self.judge else ()

    @property
    def asked_live(self) -> Chosen | None:
        return self.instrument if self.judge else None


def instrument_of(config: Any) -> Instrument | None:
    """That of the judges, in a workflow's Config."""
    found = config if isinstance(config, Instrument) else getattr(config, "instrument", None)
    return found if isinstance(found, Instrument) else None


class CitationFound(Part):
    """message: the number that the judge named; None for none."""

    message: int | None
    quote: str


class MeasuredFound(Part):
    """Of one dimension, see `instruments.Measured`."""

    dimension: str
    value: Any
    unscored_reason: str
    citations: list[CitationFound]
    found: bool
    needs_citation: bool


class ReplyFound(Part):
    """Of one subject, see `instruments.Reply`."""

    subject: Seat
    measured: list[MeasuredFound]
    answered: bool
    notes: str
    confidence: Number | None


class ValueShown(Part):
    """One annotation as the page of its run shows it. title: of the dimension. value: as in Annotation, but the titles
    of categories instead of their names. is_verified: None where nothing had to be quoted.
    """

    subject: Seat
    title: str
    value: Any
    unscored_reason: str
    quotes: list[str]
    is_verified: bool | None


class UnitJudgedData(EventData):
    """key: of the step whose answer it is. run: whose transcript the unit is in. values, unscored, unverified: how many
    annotations have a value, have none, and have a value whose quotation is not in the transcript. Of a run that is
    judged while it is played also turn, instrument (its title), judge (the model), and what it found, in `shown`.
    """

    type: Literal["unit_judged"] = "unit_judged"
    key: str
    seat: Seat
    run: str
    unit: Unit
    place: int
    values: int = 0
    unscored: int = 0
    unverified: int = 0
    turn: int | None = None
    instrument: str = ""
    judge: str = ""
    shown: list[ValueShown] = []


class UnitJudged(Finding):
    """What the judge in `seat` says of one unit, as far as it could be read. run: "" for the run itself. message: the
    key of the step whose message the unit is, in the place of its number. version: id of that of the instrument.
    """

    into = ANNOTATIONS
    tells = UnitJudgedData
    type: Literal["unit_judged"] = "unit_judged"
    key: str
    seat: Seat
    run: str
    unit: Unit
    place: int
    message: str = ""
    turn: int | None
    version: str
    sees: Sees
    length: int
    replies: list[ReplyFound]


RECORDS: tuple[type[Finding], ...] = (UnitJudged,)
Measuring = Generator[Any, Any, None]


def measured(
    key: str,
    instrument: Instrument,
    excerpt: Excerpt,
    subjects: Sequence[str],
    *,
    seat: str = "judge",
    turn: int | None = None,
) -> Generator[Any, Any, Outcome]:
    """Ask about one unit and record what is said. Returns what became of the question. subjects: who is measured one by
    one; () for the unit as a whole.
    """
    definition = instrument.definition
    before, after = prompt_parts(definition, subjects)
    outcome: Outcome = yield Ask(
        key=key,
        seat=seat,
        # The transcript is put in just before it is sent.
        messages=(Prompt("user", parts=(before, excerpt, after)),),
        purpose="judge",
        turn=turn if not excerpt.run else None,  # of the run itself: in which turn it was asked, which a branch goes by
        schema=reply_schema(definition, subjects),
        params=definition.params.model_dump(),
        prompt_version=version_of(definition),
        deadline=definition.seconds,
        patience=definition.seconds,
        attempts=None if definition.seconds is None else definition.attempts,
    )
    found = UnitJudged(
        key=key,
        seat=seat,
        run=excerpt.run,
        unit=excerpt.unit,
        place=excerpt.place,
        message=excerpt.step,
        turn=None if excerpt.unit == "run" else turn,
        version=instrument.version,
        sees=excerpt.sees,
        length=excerpt.length,
        replies=[ReplyFound(**asdict(reply)) for reply in read_reply(definition, subjects, outcome)],
    )
    yield Record(f"{key}/judged", found, turn=turn if not excerpt.run else None, source=key)
    return outcome


def turn_measured(
    key: str, cast: Cast, instrument: Chosen, turn: int, said: Mapping[str, str], speakers: Collection[str]
) -> Measuring:
    """Have what was said in a turn measured, once it is over. said: the keys of the steps of its messages, in order, by
    who said them. speakers: the models among those. Of an instrument for whole runs nothing is asked yet.
    """
    seats, unit = list(said), instrument.definition.unit
    if unit == "turn" and seats:
        yield from _live(key, cast, instrument, turn, [seat for seat in seats if seat in speakers])
    elif unit in ("message", "pair"):
        before = 1 if unit == "pair" else 0
        among = [[one for one in seats[max(0, at - before) : at + 1] if one in speakers] for at in range(len(seats))]
        yield [
            _live(f"{said[seat]}/judge", cast, instrument, turn, among[at], step=said[seat])
            for at, seat in enumerate(seats)
            if at >= before and seat in speakers
        ]


def run_measured(
    cast: Cast, instrument: Chosen | None, speakers: Sequence[str], *, turn: int | None = None, number: int = 1
) -> Measuring:
    """Have the run as a whole measured, by an instrument for whole runs, once its last turn is over. turn: that one.
    number: how often it has been over, where more may be said afterwards.
    """
    if instrument and instrument.definition.unit == "run":
        key, subjects = numbered(OF_RUN, number), tuple(speakers) if instrument.definition.each_speaker else ()
        excerpt = excerpt_of(instrument.definition, token=cast.fence(key))
        yield from measured(key, instrument, excerpt, subjects, turn=turn)


def measured_beside(
    play: Play, cast: Cast, instrument: Chosen | None, *, purposes: Collection[str], speakers: Sequence[str]
) -> Play:
    """A workflow's play, with its messages measured. Each waits for the end of its stage: the next stage, the end of
    the turn, or a pause. From there the judge works beside what follows, unless the instrument says that it waits.

    purposes: of the questions whose answers are measured. speakers: who may be asked them, in order.
    """
    return play if instrument is None else _Beside(cast, instrument, purposes, speakers).to_the_end(play)


@dataclass(frozen=True, slots=True)
class _Said:
    key: str
    seat: str
    turn: int


@dataclass(slots=True)
class _Beside:
    """Follows a play and its branches. said: all messages, in order where they have one. new: those to be measured that
    no judge was asked about. asked: how often a turn, or the run ("run"), has been measured.
    """

    cast: Cast
    instrument: Chosen
    purposes: Collection[str]
    speakers: Sequence[str]
    said: list[_Said] = field(default_factory=list)
    new: list[_Said] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)

    def to_the_end(self, play: Play) -> Play:
        end = yield from self.follow(play)
        if not (isinstance(end, End) and end.failed):
            yield list(self._due(is_end=True))
        return end

    def follow(self, play: Play, wanted: Step | None = None) -> Play:
        """wanted: a step that the play has asked for already."""
        told = (yield wanted) if wanted else None
        while True:
            try:
                step = play.send(told)
            except StopIteration as stop:
                return stop.value
            if not isinstance(step, STEPS):
                branches: list[Any] = [one if isinstance(one, STEPS) else self.follow(one) for one in step]
                told = yield branches
                for one, outcome in zip(step, told, strict=True):
                    self._note(one, outcome)
                continue
            if due := list(self._due(step)):
                if self.instrument.definition.beside:
                    *_measured, last = yield [*due, self.follow(play, step)]
                    return last
                yield due
            told = yield step
            self._note(step, told)

    def _note(self, step: Any, outcome: Any) -> None:
        if isinstance(step, Ask) and step.is_spoken and outcome.ok:
            said = _Said(step.key, step.seat, step.turn or 0)
            self.said.append(said)
            self.new += [said] if step.purpose in self.purposes else []
        elif isinstance(step, Record) and isinstance(step.finding, MessageSent):
            self.said.append(_Said(step.key, step.finding.seat, step.turn or 0))
        elif isinstance(step, Record) and isinstance(step.finding, MessageSuperseded):
            self.new = [one for one in self.new if one.key != step.finding.message]

    def _due(self, step: Any = None, *, is_end: bool = False) -> Iterable[Measuring]:
        """What is to be measured now that the play has come to this step, or to its end."""
        finding, unit = getattr(step, "finding", None), self.instrument.definition.unit
        is_over = is_end or isinstance(step, Listen) or isinstance(finding, TurnCompleted)
        if not self.new or not (is_over or isinstance(finding, StageStarted)):
            return
        if unit == "run" and (is_end or (isinstance(step, Listen) and step.is_offer)):
            yield self._of_run()
        elif unit == "turn" and is_over:
            for turn in sorted({one.turn for one in self.new}):
                yield self._of_turn([one for one in self.new if one.turn == turn])
        elif unit in ("message", "pair"):
            for said in self._in_order(self.new):
                yield from self._of_message(said)
        else:
            return
        self.new = []

    def _in_order(self, said: Iterable[_Said]) -> list[_Said]:
        """Which answer came first when all were asked at once is chance, and may differ when the run is taken over."""
        return sorted(said, key=lambda one: (one.turn, self.speakers.index(one.seat)))

    def _of_message(self, said: _Said) -> Iterable[Measuring]:
        at = self.said.index(said)
        before = [one for one in self.said[:at] if one.turn == said.turn][-1:]
        is_pair = self.instrument.definition.unit == "pair"
        if before or not is_pair:
            seats = [one.seat for one in (*(before if is_pair else ()), said) if one.seat in self.speakers]
            yield _live(f"{said.key}/judge", self.cast, self.instrument, said.turn, seats, step=said.key)

    def _of_turn(self, new: Sequence[_Said]) -> Measuring:
        """A turn to which one message was added, such as a second conclusion, is measured again by the key of that."""
        turn = new[0].turn
        key = f"{new[0].key}/judge" if len(new) == 1 else numbered(f"turn/{turn}/judge", self._count(f"turn/{turn}"))
        return _live(key, self.cast, self.instrument, turn, self._spoken({turn}))

    def _of_run(self) -> Measuring:
        turns = {one.turn for one in self.said}
        number = self._count("run")
        return run_measured(self.cast, self.instrument, self._spoken(turns), turn=max(turns), number=number)

    def _spoken(self, turns: Collection[int]) -> list[str]:
        """Who was measured, or is to be, in these turns."""
        spoke = {one.seat for one in self.said if one.turn in turns}
        return [seat for seat in self.speakers if seat in spoke]

    def _count(self, what: str) -> int:
        self.asked[what] = self.asked.get(what, 0) + 1
        return self.asked[what]


def _live(key: str, cast: Cast, instrument: Chosen, turn: int, speakers: Sequence[str], *, step: str = "") -> Measuring:
    definition = instrument.definition
    place = turn if definition.unit == "turn" else 0
    excerpt = excerpt_of(definition, place=place, step=step, token=cast.fence(key))
    subjects = tuple(speakers) if definition.each_speaker else ()
    yield Record(f"{key}/started", JudgeEvaluationStarted(key=key, turn=turn), turn=turn)
    yield from measured(key, instrument, excerpt, subjects, turn=turn)


def excerpt_of(definition: Definition, *, run: str = "", place: int = 0, step: str = "", token: str = "") -> Excerpt:
    """A unit as the judge is shown it; the arguments are those of Excerpt."""
    return Excerpt(
        "transcript",
        run=run,
        unit=definition.unit,
        place=place,
        step=step,
        length=definition.length,
        sees=definition.sees,
        token=token,
    )
