"""A report before it has a form: a tree of blocks with every word in place. HTML, PDF and Markdown draw it."""

from dataclasses import dataclass
from typing import Literal

from experiments.runs.tokens import Band
from experiments.templatetags.drawing import Drawing

Tone = Literal["plain", "muted", "warning", "danger", "operator", "people", "judge"]


class Named:
    __slots__ = ()

    @property
    def kind(self) -> str:
        """By which each format finds what draws the block: `text`, `table` …"""
        return type(self).__name__.lower()


@dataclass(frozen=True, slots=True)
class Text(Named):
    """form: `prose` is Markdown made by a model, `plain` keeps its lines as they are, `note` is a sentence of ours."""

    text: str
    form: Literal["prose", "plain", "note"] = "note"
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Facts(Named):
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """share: how much of the width it gets beside the others. Figures stand at the right."""

    name: str
    is_figure: bool = False
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Table(Named):
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Token:
    """probability: 0 to 1."""

    text: str
    probability: float
    band: Band


@dataclass(frozen=True, slots=True)
class Tokens(Named):
    """The first tokens of a reply with how sure the model was. rest says how many more there are, empty for none."""

    tokens: tuple[Token, ...]
    legend: tuple[tuple[Band, str], ...]
    rest: str


@dataclass(frozen=True, slots=True)
class Fold(Named):
    """What HTML folds away and paper shows. summary tells what is inside."""

    title: str
    summary: str
    blocks: tuple["Block", ...]
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Mark:
    text: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Entry(Named):
    """One thing that was said or happened. seat: whose colour it has, empty for none; badge: one or two letters."""

    anchor: str
    badge: str
    title: str
    when: str
    blocks: tuple["Block", ...] = ()
    seat: str = ""
    by: str = ""
    tone: Tone = "plain"
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn(Named):
    """Where a turn begins."""

    anchor: str
    title: str


@dataclass(frozen=True, slots=True)
class Part(Named):
    """A titled part of a section; seat as in Entry."""

    anchor: str
    seat: str
    badge: str
    title: str
    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Charts(Named):
    """Line drawings of one seat."""

    seat: str
    drawings: tuple[Drawing, ...]


Block = Text | Facts | Table | Tokens | Fold | Entry | Turn | Part | Charts


@dataclass(frozen=True, slots=True)
class Section:
    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """notices: what a reader must know before anything else. result: what came out, before the table of contents."""

    title: str
    subject: str
    contents: str
    footer: str
    notices: tuple[Text, ...]
    result: Section
    sections: tuple[Section, ...]
