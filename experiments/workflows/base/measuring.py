"""Judges asked by an instrument: about a unit of a transcript, of a run that is played or of one that is there already.

What they say becomes annotations. `Chosen` is the instrument in the Config of a run that is played.
"""

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, field_validator

from experiments.workflows.base.events import EventData, Number, Part, Seat
from experiments.workflows.base.instruments import Definition, prompt_parts, read_reply, reply_schema, version_of
from experiments.workflows.base.material import Sees, Unit
from experiments.workflows.base.records import Finding, JudgeEvaluationStarted, Projection, Record
from experiments.workflows.base.steps import Ask, Cast, Excerpt, Outcome, Prompt

ANNOTATIONS = Projection("annotations")

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
    """The instrument of the judge of a run that is played."""

    @field_validator("definition", mode="after")
    @classmethod
    def _can_be_asked_live(cls, definition: Definition) -> Definition:
        if definition.unit == "span":
            raise ValueError("An instrument for spans can only scan runs that are over.")
        return definition


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
        turn=turn if not excerpt.run else None,
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
        turn=turn,
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


def run_measured(cast: Cast, instrument: Chosen | None, speakers: Sequence[str]) -> Measuring:
    """Have the run as a whole measured, once its last turn is over, by an instrument for whole runs."""
    if instrument and instrument.definition.unit == "run":
        key, subjects = "run/judge", tuple(speakers) if instrument.definition.each_speaker else ()
        yield from measured(key, instrument, excerpt_of(instrument.definition, token=cast.fence(key)), subjects)


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
