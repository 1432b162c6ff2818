"""Ratings of a board adjusted for style: what outputs look like, measured once, and the fit that holds it equal."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from django.db import connection
from django.db.models import Case, IntegerField, Max, Value, When
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.errors import Invalid, Unavailable
from experiments.models import Dataset, Output
from experiments.workflows.battles.campaign.sampled import Numbers, read_battles
from leaderboard.boards import ranking
from leaderboard.boards.standings import WHOLE, Slice, finite
from leaderboard.models import Ladder, Style
from leaderboard.ratings import Battles, Controlled, Undefined, controlled
from leaderboard.ratings import style as styles
from leaderboard.ratings.style import FEATURES, relative_difference, style_of
from leaderboard.ratings.values import FloatArray

ALL = "style"
UPSTREAM = "upstream"
COVARIATES = (*styles.COVARIATES, UPSTREAM)
MARKDOWN = ("headings", "lists", "bold", "code")
PRESETS: Mapping[str, tuple[str, ...]] = {
    ALL: styles.COVARIATES, "length": ("length",), "markdown": MARKDOWN, "position": ("position",)
}  # fmt: skip
LABELS = {
    "length": gettext_lazy("Length in characters"),
    "headings": gettext_lazy("Headings"),
    "lists": gettext_lazy("List items"),
    "bold": gettext_lazy("Bold text"),
    "code": gettext_lazy("Code blocks"),
    "language": gettext_lazy("In the script of the prompt"),
    "position": gettext_lazy("Shown first"),
    UPSTREAM: gettext_lazy("Served by another upstream than usual"),
}
MOST_ADJUSTED = 200_000  # battles that are read while a page waits, in about a second
MOST_MEASURED = 2_000  # outputs, likewise
AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Covariate:
    """name: one of COVARIATES. effect, lower, upper: Elo for one standard deviation of the relative difference (`unit`)
    with its 95 % interval; None with the reason, a code of `Reason`. moves: the contestant whose rating moves most if
    this one is ignored, and by how much.
    """

    name: str
    effect: float | None = None
    lower: float | None = None
    upper: float | None = None
    reason: str = ""
    unit: float = 0.0
    moved: str = ""
    moves: float | None = None

    @property
    def label(self) -> object:
        return LABELS[self.name]


@dataclass(frozen=True, slots=True)
class Adjusted:
    """A contestant's rating and rank beside the plain ones, with style held equal or from several boards, as of
    `standings.Row`.
    """

    name: str
    rating: float | None = None
    lower: float | None = None
    upper: float | None = None
    rank: int | None = None
    best: int | None = None
    worst: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StyleControl:
    """battles: how many the adjusted ratings rest on, of all; the others have an output without a text. reason: why
    there is no adjusted rating at all, a code of `Reason`; empty otherwise.
    """

    covariates: tuple[Covariate, ...]
    rows: tuple[Adjusted, ...]
    battles: int
    of: int
    reason: str = ""

    def row(self, name: str) -> Adjusted | None:
        return next((row for row in self.rows if row.name == name), None)


def read_control(word: str) -> tuple[str, ...]:
    """The covariates that a word asks for: names of covariates and of PRESETS with commas between them; empty for none.

    Raises Invalid for a name that is no covariate.
    """
    if not word:
        return ()
    names = [name for one in word.split(",") for name in PRESETS.get(one.strip(), (one.strip(),))]
    if unknown := [name for name in names if name not in COVARIATES]:
        said = _("“%(name)s” is no style feature. Choose %(all)s, or some of: %(names)s.")
        known = {"name": unknown[0][:40], "all": ALL, "names": ", ".join(COVARIATES)}
        raise Invalid({"control": [said % known]})
    return tuple(name for name in COVARIATES if name in names)


# --- the style of outputs: measured once, since outputs never change ---


def measure(dataset: Dataset, most: int | None = None) -> int:
    """Measure the outputs that are new, at most so many. Returns how many are left."""
    new = Output.objects.filter(sample__dataset=dataset, style__isnull=True).exclude(text="").order_by("pk")
    left = new.count()
    if not left or (most is not None and left > most):
        return left
    rows = new.values_list("pk", "text", "sample__instruction").iterator(chunk_size=AT_ONCE)
    while some := list(islice(rows, AT_ONCE)):
        styles = (Style(output_id=key, **style_of(text, prompt)._asdict()) for key, text, prompt in some)
        Style.objects.bulk_create(styles, ignore_conflicts=True)
    return 0


def _differences(dataset: Dataset, rows: Numbers, names: Sequence[str]) -> tuple[FloatArray, FloatArray, Numbers]:
    """The covariates of battles, k × battles, their units, and which of the battles have texts on both sides.

    rows: sample, left, right, doubled score and side (1 where left was shown first, -1 where right was, else 0).
    """
    features = [name for name in names if name in FEATURES]
    chosen, differences, units = np.arange(len(rows)), [], []
    if features:
        query = Style.objects.filter(output__sample__dataset=dataset).order_by()
        columns = ("output__sample_id", "output__contestant_id", *features)
        with connection.cursor() as cursor:
            cursor.execute(*query.values_list(*columns).query.sql_with_params())
            known = np.array(cursor.fetchall(), dtype=np.int64).reshape(-1, len(columns))
        width = int(max(known[:, 1].max(initial=0), rows[:, 1:3].max(initial=0))) + 1
        keys = known[:, 0] * width + known[:, 1]
        order = np.argsort(keys)
        keys = np.append(keys[order], -1)

        def places(side: int) -> Numbers:
            wanted = rows[:, 0] * width + rows[:, side]
            found = np.searchsorted(keys[:-1], wanted)
            return np.where(keys[found] == wanted, found, -1)

        left, right = places(1), places(2)
        chosen = np.flatnonzero((left >= 0) & (right >= 0))
        values = known[order]
        for column, name in enumerate(features, 2):
            of_left, of_right = values[left[chosen], column], values[right[chosen], column]
            if name == "language":
                apart = np.asarray(of_left - of_right, dtype=np.float64)
                unit = float(np.sqrt(np.mean(apart**2))) if len(apart) else 0.0
                difference = apart / unit if unit else apart
            else:
                difference, unit = relative_difference(of_left, of_right)
            differences.append(difference)
            units.append(unit)
    if "position" in names:
        differences.append(np.asarray(rows[chosen, 4], dtype=np.float64))
        units.append(1.0)
    if UPSTREAM in names:
        unusual, width = _served_unusually(dataset)
        is_unusual = [np.isin(rows[chosen, 0] * width + rows[chosen, side], unusual) for side in (1, 2)]
        differences.append(is_unusual[0].astype(np.float64) - is_unusual[1])
        units.append(1.0)
    return np.array(differences, dtype=np.float64), np.array(units), chosen


def _served_unusually(dataset: Dataset) -> tuple[Numbers, int]:
    """Which outputs came from another upstream than most of their contestant's: sample · width + contestant; and width.

    Of two upstreams with as many outputs, the usual one comes first in the alphabet.
    """
    made = (
        Output.objects.filter(sample__dataset=dataset, call__isnull=False).exclude(call__served_provider="").order_by()
    )
    rows = list(made.values_list("sample_id", "contestant_id", "call__served_provider"))
    counts = Counter((contestant, served) for _sample, contestant, served in rows)
    usual: dict[int, str] = {}
    for contestant, served in sorted(counts, key=lambda one: (-counts[one], one[1])):
        usual.setdefault(contestant, served)
    width = int(dataset.contestants.aggregate(last=Max("pk", default=0))["last"]) + 1
    unusual = [sample * width + contestant for sample, contestant, served in rows if usual[contestant] != served]
    return np.array(unusual, dtype=np.int64), width


# --- the fit ---


def adjusted(ladder: Ladder, names: Sequence[str], of: Slice = WHOLE) -> StyleControl:
    """A board, or a slice of it, with these covariates held equal; its prompts are clusters, as of the plain ratings.

    Raises Invalid for a board of runs, or with too many battles for the page that waits, Unavailable while many outputs
    are new.
    """
    board = ladder.board
    if board is None:
        raise Invalid({"control": [_("This board is made from runs, so it cannot be adjusted for style.")]})
    counts = ranking.counts_of(board, of)
    if ranking.to_read(counts) > MOST_ADJUSTED:
        said = _("A board of more than %(n)s battles cannot be adjusted here. Filter it by subset, category or period.")
        raise Invalid({"control": [said % {"n": f"{MOST_ADJUSTED:,}"}]})
    if any(name in FEATURES for name in names) and measure(board.dataset, MOST_MEASURED):
        raise Unavailable(_("The style of new outputs is being measured. Try again in a minute."))
    keys = {one.pk: place for place, one in enumerate(counts.contestants)}
    first = When(shown_left_first=True, then=Value(1))
    side = Case(first, When(shown_left_first=False, then=Value(-1)), default=0, output_field=IntegerField())
    battles, rows = read_battles([board.pk], keys, counts.table.contestants, {"side": side}, of.battles)
    x, units, chosen = _differences(board.dataset, rows, names)
    told = Battles(battles.left[chosen], battles.right[chosen], battles.score[chosen], battles.contestants)
    found = controlled(told, x.reshape(len(names), len(told)), clusters=rows[chosen, 0], at_least=True)
    if isinstance(found, Undefined):
        nothing = tuple(Covariate(name, reason=str(found.reason)) for name in names)
        return StyleControl(nothing, (), len(told), len(battles), str(found.reason))
    lines = adjusted_rows(ranking.ranking_of(found.intervals, counts.table))
    covariates = tuple(
        Covariate(name, reason=str(reason)) if reason else _covariate(found, place, name, float(units[place]))
        for place, (name, reason) in enumerate(zip(names, found.reasons, strict=True))
    )
    return StyleControl(covariates, lines, found.n, len(battles))


def adjusted_rows(order: ranking.Ranking) -> tuple[Adjusted, ...]:
    """Each contestant's rating and rank, in the sequence of the fit."""
    kept = Adjusted.__dataclass_fields__
    names = order.intervals.ratings.contestants
    placed = (order.placed(place) for place in range(len(names)))
    return tuple(
        Adjusted(name, **{key: value for key, value in one.items() if key in kept})
        for name, one in zip(names, placed, strict=True)
    )


def _covariate(found: Controlled, place: int, name: str, unit: float) -> Covariate:
    moves = found.moves[place]
    most = int(np.nanargmax(np.abs(moves)))
    return Covariate(
        name,
        effect=finite(found.effects[place]),
        lower=finite(found.lower[place]),
        upper=finite(found.upper[place]),
        unit=round(unit, 6),
        moved=found.intervals.ratings.contestants[most],
        moves=finite(moves[most]),
    )
