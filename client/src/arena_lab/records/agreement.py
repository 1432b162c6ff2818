"""How far the boards of a dataset agree, how often contestants beat each other, and imports of votes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from arena_lab.records.base import Record
from arena_lab.records.battles import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteShare(Record):
    """part of `of`; share with its 95 % interval, None where `of` is 0."""

    part: int
    of: int
    share: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementFigures(Record):
    """compared: pairs of answers. kappa: Cohen's; kappa_reason: why there is none."""

    compared: int
    same_answer: VoteShare
    same_side: VoteShare
    kappa: float | None
    kappa_lower: float | None
    kappa_upper: float | None
    kappa_reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement(Record):
    """Two boards. ranks: correlation of their ratings, of `rated` contestants."""

    first: str
    second: str
    answers: AgreementFigures
    ranks: float | None
    rated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredBoard(Record):
    """among: how far the people of a board agree with each other, the ceiling for any judge; None of a judge. order:
    what being shown first, and length, are worth.
    """

    board: str
    kind: str
    judge: str
    judgments: int
    is_whole: bool
    voters: int | None
    unnamed: int | None
    among: AgreementFigures | None
    order: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementReport(Record):
    """Boards and pairs of boards, those of people first."""

    dataset: str
    boards: tuple[AnsweredBoard, ...]
    pairs: tuple[PairAgreement, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixCell(Record):
    """One against another. win_rate: 0 to 1, ties half."""

    wins: int
    losses: int
    ties: int
    both_bad: int
    win_rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixLine(Record):
    """Against each contestant in the order of the lines; None where the two never met."""

    name: str
    cells: tuple[MatrixCell | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix(Record):
    """of: how many contestants there are in all."""

    of: int
    lines: tuple[MatrixLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlicedRow(Record):
    """A contestant on the whole board and by value; None where it has no battle."""

    whole: Standing
    slices: Mapping[str, Standing | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sliced(Record):
    """by: subset, category, source, language or period; None where there is nothing to slice by."""

    by: str | None
    of: int
    rows: tuple[SlicedRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogImport(Record):
    """state: waiting, reading, done, checked (a dry run) or refused. report: what became of the lines."""

    id: str
    dataset: str
    name: str
    state: str
    is_dry_run: bool = False
    columns: Mapping[str, Any]
    report: Mapping[str, Any]
    refused_reason: str = ""
    created: datetime
