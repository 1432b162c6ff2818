"""What pages show of battles: both outputs, what was said of them, and how all contestants fared on one sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q

from experiments.models import Battle, Board, Contestant, Output, Sample, Verdict


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A criterion. values: of the first and the second shown, None where there is none. higher: 0 or 1, which of them
    is the higher one; None where neither is.
    """

    criterion: str
    values: tuple[float | None, float | None]
    higher: int | None

    @property
    def cells(self) -> list[tuple[float | None, bool]]:
        """Each value, and whether it is the higher one."""
        return [(value, place == self.higher) for place, value in enumerate(self.values)]


@dataclass(frozen=True, slots=True)
class Scores:
    """absent: why scores are missing, as sentences. others: what else was given, such as by judges of elsewhere."""

    lines: tuple[ScoreLine, ...]
    absent: tuple[str, ...]
    others: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Side:
    """A contestant in a battle. is_winner: whether its output was found the better one."""

    contestant: Contestant
    output: Output | None
    is_winner: bool


@dataclass(frozen=True, slots=True)
class BattleLine:
    """A battle in a list."""

    battle: Battle
    left: Side
    right: Side

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.left, self.right


@dataclass(frozen=True, slots=True)
class Judgment:
    """One judgment. text: the reply as it came. shown: the contestants in the order in which they were shown. winner:
    whom it is for, None for a tie or where it could not be read.
    """

    verdict: Verdict
    text: str
    shown: tuple[Contestant, Contestant]
    winner: Contestant | None
    scores: Scores


@dataclass(frozen=True, slots=True)
class Spent:
    """What both judgments took: seconds, and dollars as far as they are known (`is_whole`)."""

    seconds: float | None
    cost: Decimal | None
    is_whole: bool


@dataclass(frozen=True, slots=True)
class SampleResult:
    """How a contestant fared on one sample. rate: 0 to 1, ties half, those that were found bad left out; or None."""

    contestant: Contestant
    output: Output | None
    wins: int
    losses: int
    ties: int
    both_bad: int

    @property
    def rate(self) -> float | None:
        games = self.wins + self.losses + self.ties
        return (self.wins + self.ties / 2) / games if games else None


def battle_lines(battles: Sequence[Battle], *, with_outputs: bool) -> list[BattleLine]:
    """With their outputs, whose texts are not loaded, or without them, where names alone are shown."""
    made: dict[tuple[int, int], Output] = {}
    if with_outputs:
        people = {key for one in battles for key in (one.left_id, one.right_id)}
        rows = Output.objects.filter(sample__in={one.sample_id for one in battles}, contestant__in=people)
        made = {(one.sample_id, one.contestant_id): one for one in rows.defer("text").order_by()}
    return [BattleLine(one, *_sides(one, made)) for one in battles]


def sides(battle: Battle) -> tuple[Side, Side]:
    found = Output.objects.filter(sample=battle.sample_id, contestant__in=[battle.left_id, battle.right_id])
    made = {(one.sample_id, one.contestant_id): one for one in found.select_related("image")}
    return _sides(battle, made)


def judgments(battle: Battle) -> list[Judgment]:
    rows = battle.verdicts.select_related("call").order_by("order")
    found = []
    for verdict in rows:
        is_original = verdict.order == Verdict.Order.ORIGINAL
        shown = (battle.left, battle.right) if is_original else (battle.right, battle.left)
        winner = {"left": battle.left, "right": battle.right}.get(verdict.winner)
        text = verdict.raw or (verdict.call.text if verdict.call else "")
        found.append(Judgment(verdict, text, shown, winner, scores_of(verdict, shown)))
    return found


def spent(said: list[Judgment]) -> Spent | None:
    """None where no judgment was a call of ours."""
    calls = [one.verdict.call for one in said if one.verdict.call]
    costs = [call.cost for call in calls if call.cost is not None]
    seconds = [call.seconds for call in calls if call.seconds is not None]
    if not calls:
        return None
    return Spent(sum(seconds) if seconds else None, sum(costs, Decimal(0)) if costs else None, len(costs) == len(calls))


def others_on_it(battle: Battle, *, with_people: bool = True) -> list[Battle]:
    """What other boards, and other voters, say of the same outputs; votes that are still to be cast are left out."""
    beside = Board.objects.filter(dataset=battle.board.dataset_id)
    asked = beside if with_people else beside.exclude(kind=Board.Kind.PEOPLE)
    same = Battle.objects.filter(board__in=asked.values("pk"))
    same = same.filter(left=battle.left_id, right=battle.right_id, sample=battle.sample_id, void_reason="")
    rows = same.exclude(pk=battle.pk).exclude(winner="").revealed()
    return list(rows.select_related("board__judge_model", "left", "right").order_by("board", "pk")[:40])


def on_sample(board: Board, sample: Sample) -> list[SampleResult]:
    """All contestants with an output or a battle on the sample, the best first, those without a battle last."""
    nothing = dict.fromkeys(("wins", "losses", "ties", "both_bad"), 0)
    scores: dict[int, dict[str, int]] = {}
    battles = Battle.objects.filter(board=board, sample=sample).counted().order_by()
    for left, right, winner, count in battles.values_list("left", "right", "winner").annotate(n=Count("pk")):
        for key, side, other in ((left, "left", "right"), (right, "right", "left")):
            mine = scores.setdefault(key, {**nothing})
            mine[{side: "wins", other: "losses", "tie": "ties", "both_bad": "both_bad"}[winner]] += count
    made = {one.contestant_id: one for one in sample.outputs.select_related("image")}
    people = Contestant.objects.filter(Q(pk__in=made) | Q(pk__in=scores))
    rows = [SampleResult(one, made.get(one.pk), **scores.get(one.pk, nothing)) for one in people]
    return sorted(rows, key=lambda row: (row.rate is None, -(row.rate or 0), str(row.contestant)))


def _sides(battle: Battle, made: dict[tuple[int, int], Output]) -> tuple[Side, Side]:
    def side(name: str) -> Side:
        contestant: Any = getattr(battle, name)
        return Side(contestant, made.get((battle.sample_id, contestant.pk)), battle.winner == name)

    return side("left"), side("right")


def scores_of(verdict: Verdict, shown: tuple[Contestant, Contestant]) -> Scores:
    """shown: the contestants in the order in which the judge saw them."""
    given: Mapping[str, Any] = verdict.scores if isinstance(verdict.scores, Mapping) else {}
    absent = given.get("absent")
    sides = ("left", "right") if verdict.order == Verdict.Order.ORIGINAL else ("right", "left")
    tables: list[Any] = [given.get(side) for side in sides]
    is_table = all(isinstance(one, Mapping) for one in tables)

    def number(value: Any) -> float | None:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def line(name: str) -> ScoreLine:
        first, second = (number(table.get(name)) for table in tables)
        differ = first is not None and second is not None and first != second
        higher = None if not differ else 0 if (first or 0) > (second or 0) else 1
        return ScoreLine(_words(name), (first, second), higher)

    def named(said: str) -> str:
        """With the contestant's name for the letter that the judge knew it by."""
        before, _whose, rest = said.partition("'s ")
        contestant = {"A": shown[0], "B": shown[1]}.get(before)
        return f"{contestant}: {rest}" if contestant else said

    apart = {*(sides if is_table else ()), *(("absent",) if isinstance(absent, list) else ())}
    return Scores(
        lines=tuple(map(line, {**tables[0], **tables[1]})) if is_table else (),
        absent=tuple(named(str(said)) for said in absent) if isinstance(absent, list) else (),
        others=tuple((_words(name), _text(value)) for name, value in given.items() if name not in apart),
    )


def _words(name: Any) -> str:
    """A criterion's name as words: text_rendering is Text rendering."""
    words = str(name).replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _text(value: Any) -> str:
    """Anything that JSON can say, in one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(name)} {_text(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, float):
        return f"{value:g}"
    return "–" if value is None else str(value)
