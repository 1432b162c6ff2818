"""What pages show of battles: both outputs, what was said of them, and how one sample went for everybody."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q

from experiments.models import Battle, Board, Call, Contestant, Output, Sample, Verdict
from leaderboard.pages.scores import Scores, scores_of


@dataclass(frozen=True, slots=True)
class Side:
    """A contestant in a battle. is_winner: whether its output was found the better one."""

    contestant: Contestant
    output: Output | None
    is_winner: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A battle in a list."""

    battle: Battle
    left: Side
    right: Side


@dataclass(frozen=True, slots=True)
class Said:
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
class Standing:
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


def lines(battles: Iterable[Battle]) -> list[Line]:
    """With their outputs at hand, without the outputs' texts."""
    battles = list(battles)
    made = _outputs(battles)
    return [Line(one, *_sides(one, made)) for one in battles]


def bare_lines(battles: Iterable[Battle]) -> list[Line]:
    """Without their outputs, where names alone are shown."""
    return [Line(one, *_sides(one, {})) for one in battles]


def sides(battle: Battle) -> tuple[Side, Side]:
    found = Output.objects.filter(sample=battle.sample_id, contestant__in=[battle.left_id, battle.right_id])
    made = {(one.sample_id, one.contestant_id): one for one in found.select_related("image")}
    return _sides(battle, made)


def judgments(battle: Battle) -> list[Said]:
    rows = battle.verdicts.select_related("call").order_by("order")
    found = []
    for verdict in rows:
        is_original = verdict.order == Verdict.Order.ORIGINAL
        shown = (battle.left, battle.right) if is_original else (battle.right, battle.left)
        winner = {"left": battle.left, "right": battle.right}.get(verdict.winner)
        text = verdict.raw or (verdict.call.text if verdict.call else "")
        found.append(Said(verdict, text, shown, winner, scores_of(verdict, shown)))
    return found


def spent(said: list[Said]) -> Spent | None:
    """None where no judgment was a call of ours."""
    calls: list[Call] = [one.verdict.call for one in said if one.verdict.call]
    if not calls:
        return None
    costs = [call.cost for call in calls if call.cost is not None]
    seconds = [call.seconds for call in calls if call.seconds is not None]
    return Spent(sum(seconds) if seconds else None, sum(costs, Decimal(0)) if costs else None, len(costs) == len(calls))


def others_on_it(battle: Battle) -> list[Battle]:
    """What other boards, and other voters, say of the same outputs; votes that are still to be cast are left out."""
    same = Battle.objects.filter(board__in=Board.objects.filter(dataset=battle.board.dataset_id).values("pk"))
    same = same.filter(left=battle.left_id, right=battle.right_id, sample=battle.sample_id, void_reason="")
    rows = same.exclude(pk=battle.pk).exclude(winner="").revealed()
    return list(rows.select_related("board__judge_model", "left", "right").order_by("board", "pk")[:40])


def on_sample(board: Board, sample: Sample) -> list[Standing]:
    """Everybody who has an output or a battle on the sample, the best first, those without a battle last."""
    made = {one.contestant_id: one for one in sample.outputs.select_related("image")}
    scores = _scores(board, sample)
    people = Contestant.objects.filter(Q(pk__in=made) | Q(pk__in=scores))
    nothing: dict[str, int] = {"wins": 0, "losses": 0, "ties": 0, "both_bad": 0}
    rows = [Standing(one, made.get(one.pk), **scores.get(one.pk, nothing)) for one in people]
    return sorted(rows, key=lambda row: (row.rate is None, -(row.rate or 0), str(row.contestant)))


def _scores(board: Board, sample: Sample) -> dict[int, dict[str, int]]:
    battles = Battle.objects.filter(board=board, sample=sample).counted().order_by()
    scores: dict[int, dict[str, int]] = {}
    for left, right, winner, count in battles.values_list("left", "right", "winner").annotate(n=Count("pk")):
        for key, side, other in ((left, "left", "right"), (right, "right", "left")):
            mine = scores.setdefault(key, {"wins": 0, "losses": 0, "ties": 0, "both_bad": 0})
            mine[{side: "wins", other: "losses", "tie": "ties", "both_bad": "both_bad"}[winner]] += count
    return scores


def _outputs(battles: list[Battle]) -> dict[tuple[int, int], Output]:
    people = {key for one in battles for key in (one.left_id, one.right_id)}
    rows = Output.objects.filter(sample__in={one.sample_id for one in battles}, contestant__in=people)
    return {(one.sample_id, one.contestant_id): one for one in rows.defer("text").order_by()}


def _sides(battle: Battle, made: dict[tuple[int, int], Output]) -> tuple[Side, Side]:
    def side(name: str) -> Side:
        contestant: Any = getattr(battle, name)
        return Side(contestant, made.get((battle.sample_id, contestant.pk)), battle.winner == name)

    return side("left"), side("right")
