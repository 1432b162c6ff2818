"""What people and programs meet of a workflow, as it declares it. Shared code draws it, and never asks which it has."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from experiments.workflows.base.dry_run import Assumptions, Planned
from experiments.workflows.base.instruments import Definition
from experiments.workflows.base.limits import Limits

Text = Any  # a str, or one that is translated when it is shown
Data = Mapping[str, Any]
Slot = Callable[
    [str, Data], str
]  # of an event, by its type and data: `slot-NAME` is the id of the element it goes into
Anchor = str | Callable[[Data], str]  # of the data of an event; a pattern of its fields, such as "count-{turn}-{count}"


@dataclass(frozen=True, slots=True)
class Told:
    """What the report of a run, and its exports, say in a workflow's own way. Rows: of `reports.setup`.

    finding: the blocks with which the report begins, before what a judge measured and the figures of the run. settings:
    the blocks of its set-up; None for those that its set-up page declares. log: the section in the place of the talk;
    title, turn: headings of the talk and of a turn in it, the latter with `%(turn)s`. parts: names of what belongs to
    no turn, by the word with which the keys of its steps begin. before: sections that stand before the talk. stage: the
    stage of a call, where a run has stages. has_talk, is_judged: whether messages and judgments are told as such.
    table: the rows of its CSV file, names of columns first, where these are not messages.
    """

    finding: Callable[[Any], Iterable[Any]] = lambda rows: ()
    settings: Callable[[Any], Iterable[Any]] | None = None
    title: Text = ""
    turn: Text = ""
    parts: Mapping[str, Text] = field(default_factory=dict)
    before: Callable[[Any], Iterable[Any]] = lambda rows: ()
    log: Callable[[Any], Any] | None = None
    stage: Callable[[Any], str] | None = None
    has_talk: bool = True
    is_judged: bool = True
    table: Callable[[Any], Iterable[Sequence[Any]]] | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Fields of the set-up form that stand together, by the names of the form's (`limits-tokens`). is_folded: they are
    settings that few change; the folded line says what they are set to. when: the field, and its value, with which they
    apply. template: draws them in its own way, with the form and what `Setup.context` gives; the line names the first.
    """

    fields: tuple[str, ...]
    title: Text = ""
    hint: Text = ""
    is_folded: bool = False
    is_beside: bool = False
    when: tuple[str, str] | None = None
    template: str = ""


@dataclass(frozen=True, slots=True)
class SeatForm:
    """Where a model is chosen. params: which of its sampling parameters can be set. nobody: what it is called when no
    model is chosen; "" where one has to be. is_usual: a model is chosen at first although none has to be. needs: the
    box in the form that has to be ticked for it; it stands there, and so do `fields`, of the Config. is_tool: models
    that only judge and filter are offered, too. has_persona: whether it can play a part.
    """

    seat: str
    label: Text
    hint: Text = ""
    params: tuple[str, ...] = ()
    nobody: Text = ""
    is_usual: bool = False
    needs: str = ""
    fields: tuple[str, ...] = ()
    is_tool: bool = False
    has_persona: bool = False


@dataclass(frozen=True, slots=True)
class Seats:
    """Seats that stand together. is_folded: few use them; the folded line names the models chosen. is_list: they share
    a frame instead of having one each.
    """

    seats: tuple[SeatForm, ...]
    title: Text = ""
    hint: Text = ""
    is_folded: bool = False
    is_beside: bool = False
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class SeatRows:
    """Seats `SEAT-1`, `SEAT-2` …, as rows that are added, removed and moved. name: of the form's field that holds them.

    row: what one is called, before its number. add: the words for one more. too_few: the complaint. usual: how many
    are chosen at first. is_distinct: a model sits once. has_names: each has a name, which need not be written.
    has_specialists: models made for one task come no later than others. everybody: the words for choosing all models
    at once, where that is offered.
    """

    name: str
    seat: str
    least: int
    most: int
    title: Text
    row: Text
    add: Text
    too_few: Text
    hint: Text = ""
    params: tuple[str, ...] = ()
    usual: int = 4
    is_distinct: bool = False
    has_names: bool = False
    has_specialists: bool = False
    everybody: Text = ""
    is_beside: bool = True
    is_folded: bool = field(default=False, init=False)


Part = Group | Seats | SeatRows


class AskedSeat(TypedDict, total=False):
    """The model or the person that was chosen for a seat. name: of seats that are given one."""

    model: str
    person: dict[str, object]
    name: str
    persona: str
    params: dict[str, object]


class Asked(TypedDict):
    """What was filled in. config: values of the form's fields, which nothing but the workflow's Config has checked."""

    title: str
    config: dict[str, Any]
    cast: dict[str, AskedSeat]


@dataclass(frozen=True, slots=True)
class Example:
    """A text with which a field can be filled in. title: of its button."""

    title: Text
    text: Text


@dataclass(frozen=True, slots=True)
class Setup:
    """The page on which a workflow is set up, drawn from its Config. Parts `is_beside` make a column of their own.

    labels, hints: of fields, by their names; `interventions.turn` of a part of each row. choices: the words for values
    of a field, which is shown as buttons then. examples: texts that a click fills in, by field. renamed: fields of the
    Config that have another name in the form. main: the field to which complaints about the whole belong.
    starts_on_enter: in that field; otherwise it is Ctrl+Enter. usual: what a sampling parameter is where nothing is
    written. of_preset: fields that are saved under a name, with the cast. links: words and routes beside the title.

    offered: fields whose values are chosen among what there is, as `fill` says of a form that was made. route, address:
    of the page, where it is about something that the address names: the form has that as `of`. initial: further values
    at first, of the request and of those that there are. refill: values that a button of the form fills in, of the
    request and of what was typed; None where it starts. instead: a template in the place of a form with which nothing
    can be started. asked: what becomes of {title, config, cast}, after the form; raises Invalid.

    head: a template above the title. note: one under the form. below: one after it, with the context of `context`, in
    the place of the latest runs. remarks: sentences under the estimate, of the form. saved: settings that a person can
    name in the place of writing them, by their names, and what these are called. script: what only this page needs.
    """

    title: Text
    parts: tuple[Part, ...]
    labels: Mapping[str, Text] = field(default_factory=dict)
    hints: Mapping[str, Text] = field(default_factory=dict)
    choices: Mapping[str, Mapping[Any, Text]] = field(default_factory=dict)
    examples: Mapping[str, tuple[Example, ...]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    main: str | Callable[[Data], str] = ""
    starts_on_enter: bool = False
    offered: tuple[str, ...] = ()
    fill: Callable[[Any], None] | None = None
    usual: Mapping[str, Any] = field(default_factory=dict)
    of_preset: tuple[str, ...] = ()
    links: tuple[tuple[Text, str], ...] = ()
    head: str = ""
    route: str = ""
    address: str = ""
    refill: Callable[[Any, Data], Mapping[str, Any] | None] | None = None
    instead: Callable[[Any], str] | None = None
    initial: Callable[[Any, Data], Mapping[str, Any]] | None = None
    asked: Callable[[Any, Asked], Asked] | None = None
    note: str = ""
    below: str = ""
    context: Callable[[Any], Mapping[str, Any]] | None = None
    remarks: Callable[[Any], Iterable[Text]] | None = None
    saved: Callable[[Any], Mapping[str, Mapping[str, Any]]] | None = None
    saved_label: Text = ""
    style: str = ""
    script: str = ""

    @property
    def has_column_beside(self) -> bool:
        return any(part.is_beside and not part.is_folded for part in self.parts)

    @property
    def seats(self) -> tuple[SeatForm, ...]:
        return tuple(seat for part in self.parts if isinstance(part, Seats) for seat in part.seats)

    @property
    def rows(self) -> tuple[SeatRows, ...]:
        return tuple(part for part in self.parts if isinstance(part, SeatRows))

    @property
    def fields(self) -> tuple[str, ...]:
        """Of the Config, in the order of the page."""
        found: dict[str, None] = {}
        for part in self.parts:
            if isinstance(part, Group):
                found |= dict.fromkeys(part.fields)
            elif isinstance(part, Seats):
                found |= dict.fromkeys(name for seat in part.seats for name in (seat.needs, *seat.fields) if name)
        return tuple(found)


LIMIT_FIELDS = tuple(f"limits-{name}" for name in Limits.model_fields)
LIMITS = Group(LIMIT_FIELDS, is_folded=True)


def in_transcript(type_: str, data: Data) -> str:
    return "transcript"


@dataclass(frozen=True, slots=True)
class ReadyInstrument:
    """What a judge is asked. reads_runs: whether a transcript can be measured by it; pictures stand in none."""

    title: Text
    description: Text
    definition: Definition
    reads_runs: bool = True


@dataclass(frozen=True, slots=True)
class Surface:
    """name, description: what people call it, and what it does. purpose: what it is for, in one short sentence. icon:
    what is inside of its <svg viewBox="0 0 16 16">. setup: its set-up page; home: the route of that page, "" where
    there is none. page: answers a request for the page of an experiment, of (request, experiment), where that is
    another one. urls, api_urls: modules with routes of its own.
    formats: module with the FORMAT of files that are taken over, see `imports.formats`. seats: what seats are called
    in its transcripts, where that is another word than elsewhere, or only this workflow has them.

    entries: types of events that its run page shows, with their places. slot: where on the page each goes. unseen:
    purposes of calls whose failures the page does not show one by one, with the beginning of the seat's name.
    page_entries: which entries the page shows at first, where it does not show all. context: what its page needs
    beside what every run's page has. address: where a message of a turn is read, where that is not the run's page.
    look: the workflow whose fragments show its events, from the configuration, where that is another one. styles,
    script: static files of its run page, whose template is `workflows/SLUG/run.html`, with the blocks of
    `workflows/run.html`, where it has one. no_branch: why its runs have no branches, and what to do instead. title: of
    a run, of `%(title)s`. turns: what its turns are called. again: the words for setting the same up anew. may_extend:
    whether the last turn can be put off while it runs. run_links: a template with further links at the head of its
    page. findings, parsed: how its findings and its structured answers, by kind, are read from a document that is
    taken over. steps_of_log: makes the steps of a draft and of these judgments, as a log of Inspect names none. told:
    reports and exports. instruments: what its own judges are asked, as built-in instruments, by their slugs.
    """

    name: Text
    description: Text = ""
    purpose: Text = ""
    icon: str = ""
    setup: Setup | None = None
    home: str = ""
    page: Callable[[Any, Any], Any] | None = None
    urls: str = ""
    api_urls: str = ""
    formats: str = ""
    seats: Mapping[str, Text] = field(default_factory=dict)
    entries: Mapping[str, Anchor] = field(default_factory=dict)
    slot: Slot = in_transcript
    unseen: tuple[tuple[str, str], ...] = ()
    page_entries: Callable[[Any], Sequence[Any]] | None = None
    context: Callable[[Any, Any, Sequence[Any]], Mapping[str, Any]] | None = None
    address: Callable[[Any, int], str] | None = None
    look: Callable[[Data], str] | None = None
    styles: tuple[str, ...] = ()
    script: str = ""
    title: Text = ""
    turns: Text = ""
    again: Text = ""
    may_extend: bool = False
    run_links: str = ""
    no_branch: Text = ""
    findings: Mapping[str, type[Any]] = field(default_factory=dict)
    parsed: Mapping[str, type[Any]] = field(default_factory=dict)
    steps_of_log: Callable[[Any, Sequence[Any]], None] | None = None
    told: Told = Told()
    assumptions: Assumptions = field(default_factory=Assumptions)
    assumed: Text = ""
    plan: Callable[[Any, Sequence[Any], Any], Planned] | None = None
    instruments: Mapping[str, "ReadyInstrument"] = field(default_factory=dict)
