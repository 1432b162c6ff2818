"""A report before it has a form: sections of blocks with every word in place. HTML, PDF and Markdown draw the
same value.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from experiments.templatetags.drawing import Drawing

Tone = Literal["plain", "muted", "warning", "danger", "operator", "people", "judge"]
Band = Literal["high", "middle", "low"]


@dataclass(frozen=True, slots=True)
class Text:
    """form: `prose` is Markdown made by a model, `plain` keeps its lines as they are, `note` is a sentence of ours."""

    kind: ClassVar[str] = "text"
    text: str
    form: Literal["prose", "plain", "note"] = "note"
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    kind: ClassVar[str] = "facts"
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """share: how much of the width it gets beside the others. Figures stand at the right."""

    name: str
    is_figure: bool = False
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Table:
    kind: ClassVar[str] = "table"
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
class Tokens:
    """The first tokens of a reply with how sure the model was. rest says how many more there are, empty for none."""

    kind: ClassVar[str] = "tokens"
    tokens: tuple[Token, ...]
    legend: tuple[tuple[Band, str], ...]
    rest: str


@dataclass(frozen=True, slots=True)
class Fold:
    """What HTML folds away and paper shows. summary tells what is inside."""

    kind: ClassVar[str] = "fold"
    title: str
    summary: str
    blocks: tuple["Block", ...]
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Mark:
    text: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was said or happened. seat: whose colour it has, empty for none; badge: one or two letters."""

    kind: ClassVar[str] = "entry"
    anchor: str
    seat: str
    badge: str
    title: str
    by: str
    when: str
    tone: Tone
    marks: tuple[Mark, ...]
    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """Where a turn begins."""

    kind: ClassVar[str] = "turn"
    anchor: str
    title: str


@dataclass(frozen=True, slots=True)
class Part:
    """A titled part of a section; seat as in Entry."""

    kind: ClassVar[str] = "part"
    anchor: str
    seat: str
    badge: str
    title: str
    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Charts:
    """Line drawings of one seat."""

    kind: ClassVar[str] = "charts"
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
    """header: what identifies the run. notices: what a reader must know before anything else."""

    title: str
    subject: str
    contents: str
    footer: str
    header: Facts
    notices: tuple[Text, ...]
    sections: tuple[Section, ...]
