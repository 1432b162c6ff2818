"""How far each pair of contestants is: battles decided of those wanted, as a table of contestants by contestants."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from experiments.models import Contestant, Output
from experiments.workflows.battles.campaign.counting import pair_totals
from experiments.workflows.battles.campaign.scope import Pair, Scope

MOST_IN_A_TABLE = 24  # contestants: a larger table shows nothing any more, so each contestant has one row then
SHADES = 5


@dataclass(frozen=True, slots=True)
class Cell:
    """One pair, or all pairs of a contestant. wanted None: as many as the ratings need."""

    name: str
    done: int
    wanted: int | None

    @property
    def shade(self) -> int:
        """0 for nothing to SHADES for everything that is wanted."""
        if not self.done or self.wanted == 0:
            return 0
        return max(1, min(SHADES, SHADES * self.done // self.wanted)) if self.wanted else SHADES // 2


@dataclass(frozen=True, slots=True)
class Row:
    """A contestant: its number, and its pairs with those of higher numbers; None where a cell would say it twice."""

    number: int
    name: str
    cells: tuple[Cell | None, ...]
    total: Cell


@dataclass(frozen=True, slots=True)
class Grid:
    """is_table: whether the rows have their cells, or are too many and have their totals alone."""

    rows: tuple[Row, ...]
    is_table: bool


def of(scope: Scope) -> Grid:
    """What stands on the boards, also what other experiments have decided: it is not judged again. Where two
    contestants have outputs on different samples, a pair wants fewer than is said here.
    """
    made, most = _coverage(scope), _most(scope)
    done = sum((Counter(pair_totals(board, scope.config.subsets)) for board in scope.boards.values()), Counter[Pair]())
    names = {one.pk: str(one) for one in scope.contestants}
    cells: dict[Pair, Cell] = {}
    for pair in scope.pairs:
        left, right = pair
        wanted = None if most is None else len(scope.boards) * min(made.get(left, 0), made.get(right, 0), most)
        cells[pair] = Cell(f"{names[left]} – {names[right]}", done[pair], wanted)
    is_table = len(names) <= MOST_IN_A_TABLE
    rows = [_row(number, one, scope.contestants, cells, is_table) for number, one in enumerate(scope.contestants, 1)]
    return Grid(tuple(rows), is_table)


def _row(number: int, one: Contestant, others: Sequence[Contestant], cells: Mapping[Pair, Cell], is_table: bool) -> Row:
    own = [cell for pair, cell in cells.items() if one.pk in pair]
    wanted = None if any(cell.wanted is None for cell in own) else sum(cell.wanted or 0 for cell in own)
    line = tuple(cells.get((one.pk, other.pk)) for other in others) if is_table else ()
    return Row(number, str(one), line, Cell(str(one), sum(cell.done for cell in own), wanted))


def _most(scope: Scope) -> int | None:
    """Samples for each pair at most; None where the ratings decide."""
    sampling = scope.config.sampling
    if sampling.plan == "adaptive":
        return None
    return int(sampling.per_pair) if sampling.plan == "sample" else 2**62


def _coverage(scope: Scope) -> dict[int, int]:
    """For how many samples of the chosen subsets each contestant has an output."""
    outputs = Output.objects.filter(contestant__in=scope.contestants)
    if scope.config.subsets:
        outputs = outputs.filter(sample__subset__in=scope.config.subsets)
    made = outputs.order_by().values_list("contestant").annotate(made=Count("pk"))
    return dict(made)
