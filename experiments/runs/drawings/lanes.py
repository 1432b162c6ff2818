"""A picture of a lineage: each run is a lane that leaves its parent's lane at the turn where it branched."""

from dataclasses import dataclass
from uuid import UUID

from experiments.runs.lineage import Lineage, Row

WIDTH, LANE, LEFT, RIGHT, TOP = 560.0, 22.0, 10.0, 40.0, 4.0
WIDEST_TURN = 40.0
MOST_LANES = 60
MOST_TICKS = 20
SQUARE = 7.0


@dataclass(frozen=True, slots=True)
class Lane:
    """line: the path of SVG from its parent's lane to its own end; dots: the turns of its own; join: where it left."""

    row: Row
    y: float
    end: float
    line: str
    dots: tuple[float, ...]
    join: tuple[float, float] | None
    is_current: bool

    @property
    def join_corner(self) -> tuple[float, float]:
        """Of the square that marks an edited message."""
        x, y = self.join or (0.0, 0.0)
        return (x - SQUARE / 2, y - SQUARE / 2)

    @property
    def label_x(self) -> float:
        return self.end + 10


@dataclass(frozen=True, slots=True)
class Tick:
    x: float
    turn: int


@dataclass(frozen=True, slots=True)
class Picture:
    width: float
    height: float
    lanes: tuple[Lane, ...]
    ticks: tuple[Tick, ...]

    @property
    def bottom(self) -> float:
        """Where the lanes end and the numbers of the turns begin."""
        return self.height - LANE * 0.7


def picture(lineage: Lineage) -> Picture | None:
    """None when there is nothing to draw: no branch, or more runs than anybody could tell apart."""
    if not lineage.branches or len(lineage.rows) > MOST_LANES:
        return None
    longest = max(_last_turn(row) for row in lineage.rows)
    step = min(WIDEST_TURN, (WIDTH - LEFT - RIGHT) / max(longest, 1))
    heights = {row.node.run.pk: TOP + LANE * (n + 0.5) for n, row in enumerate(lineage.rows)}
    every = max(1, -(-longest // MOST_TICKS))
    return Picture(
        width=LEFT + step * longest + RIGHT,
        height=TOP + LANE * (len(lineage.rows) + 1),
        lanes=tuple(_lane(row, heights, step, lineage.current) for row in lineage.rows),
        ticks=tuple(Tick(_x(turn, step), turn) for turn in range(every, longest + 1, every)),
    )


def _lane(row: Row, heights: dict[UUID, float], step: float, current: UUID | None) -> Lane:
    y, last = heights[row.node.run.pk], _last_turn(row)
    first = row.node.turn or 0
    end = _x(last, step) + (0 if last > first else step / 2)
    line, join = f"M{_x(0, step):g} {y:g}H{end:g}", None
    if row.parent is not None:
        join = (_x(first, step), heights[row.parent.run.pk])
        bend = join[0] + min(step / 2, LANE / 2)
        line = f"M{join[0]:g} {join[1]:g}V{y - LANE / 2:g}Q{join[0]:g} {y:g} {bend:g} {y:g}H{max(end, bend):g}"
        end = max(end, bend)
    dots = tuple(_x(turn, step) for turn in range(first + 1, last + 1))
    return Lane(row, y, round(end, 2), line, dots, join, is_current=row.node.run.pk == current)


def _last_turn(row: Row) -> int:
    return max(getattr(row.node.run, "turn", None) or 0, row.node.turn or 0)


def _x(turn: int, step: float) -> float:
    return round(LEFT + turn * step, 2)
