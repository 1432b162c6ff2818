"""Which run came from which: branches, and judgings of a transcript. A family takes a constant number of queries."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connection
from django.db.models import F, Q
from django.db.models.fields.json import KT

from experiments.models import Event, Experiment, Message, Run
from experiments.workflows.shards import SCORING

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

    Person = User | AnonymousUser

MOST_NODES = 500

ANCESTORS = """
WITH RECURSIVE up(id, parent_id) AS (
    SELECT id, parent_id FROM experiments_run WHERE id IN ({ids})
    UNION SELECT run.id, run.parent_id FROM experiments_run run JOIN up ON run.id = up.parent_id
) SELECT id FROM up LIMIT {most}"""
DESCENDANTS = """
WITH RECURSIVE down(id) AS (
    SELECT id FROM experiments_run WHERE id IN ({ids})
    UNION SELECT run.id FROM experiments_run run JOIN down ON run.parent_id = down.id
) SELECT id FROM down LIMIT {most}"""


@dataclass(frozen=True, slots=True)
class Branch:
    """Where a run left its parent. turn and seat say at which message, None and "" when that is not known.

    edited: a person changed that message; by: who branched.
    """

    message: UUID | None
    turn: int | None
    seat: str
    edited: bool
    by: str


@dataclass(frozen=True, slots=True)
class Node:
    """A run with what came from it. branch is None for the root; judged_again: runs that judge its transcript anew."""

    run: Run
    branch: Branch | None
    children: tuple["Node", ...]
    judged_again: tuple[Run, ...]

    @property
    def turn(self) -> int | None:
        """At which turn it left its parent."""
        return self.branch.turn if self.branch else None

    @property
    def seat(self) -> str:
        return self.branch.seat if self.branch else ""

    @property
    def edited(self) -> bool:
        return bool(self.branch and self.branch.edited)


@dataclass(frozen=True, slots=True)
class Row:
    """A node in a nested list, numbered from 1. opens: it begins a list; closes: how many lists end with it."""

    number: int

    node: Node
    parent: Node | None
    depth: int
    opens: bool
    closes: range


@dataclass(frozen=True)
class Lineage:
    """Trees of runs. current: the run that is looked at. is_cut: there are more runs than MOST_NODES."""

    trees: tuple[Node, ...]
    current: UUID | None = None
    is_cut: bool = False

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        rows = [row for tree in self.trees for row in _rows(tree)]
        return tuple(replace(row, number=number) for number, row in enumerate(rows, start=1))

    @cached_property
    def branches(self) -> int:
        return sum(row.parent is not None for row in self.rows)

    @cached_property
    def judged_again(self) -> tuple[tuple[Node, Run], ...]:
        return tuple((row.node, run) for row in self.rows for run in row.node.judged_again)


def of(run: Run, user: "Person") -> Lineage:
    """The whole tree that a run belongs to, even when it is alone, as far as `user` may see it; none if not the run."""
    return _forest([run.pk], user, current=run.pk)


def for_page(run: Run, user: "Person") -> Lineage | None:
    """What the page of a run shows; None when nothing came from it and it came from nothing."""
    if run.parent_id is None and not run.children.exists():
        return None  # as most runs: nothing else has to be read
    return _if_any(of(run, user))


def for_experiment(experiment: Experiment, user: "Person") -> Lineage | None:
    """The trees of those runs of an experiment that have a parent or children."""
    related = experiment.runs.filter(Q(parent__isnull=False) | Q(children__isnull=False)).distinct()
    return _if_any(_forest(list(related.order_by("created").values_list("pk", flat=True)[:MOST_NODES]), user))


def _if_any(lineage: Lineage) -> Lineage | None:
    return lineage if lineage.branches or lineage.judged_again else None


def _forest(start: Sequence[UUID], user: "Person", current: UUID | None = None) -> Lineage:
    """The trees of the runs in `start`. What `user` may not see ends a tree, above as well as below."""
    if not start:
        return Lineage((), current)
    above = Run.objects.visible_to(user).filter(pk__in=_related(ANCESTORS, start))
    roots = _roots(start, dict(above.values_list("pk", "parent_id")))
    if not roots:
        return Lineage((), current)
    family = _related(DESCENDANTS, roots)
    runs = list(Run.objects.visible_to(user).filter(pk__in=family[:MOST_NODES]).with_totals().select_related(*SHOWN))
    branched = [run.pk for run in runs if run.branched_from_id]
    point = "run__branched_from"  # whose step has the same key in the branch: there it may say something else
    same_place = Message.objects.filter(run__in=branched, step__key=F(f"{point}__step__key")).order_by()
    edited = set(same_place.exclude(raw_text=F(f"{point}__raw_text")).values_list("run_id", flat=True))
    created = Event.objects.filter(run__in=branched, type="experiment_created").order_by()
    built = _built(runs, edited, dict(created.values_list("run_id", KT("data__branch__by"))))
    return Lineage(tuple(built[root] for root in roots if root in built), current, len(family) > MOST_NODES)


def _related(query: str, ids: Collection[UUID]) -> list[UUID]:
    """The runs above or below these. Only places for parameters are put into the text of the query."""
    key = Run._meta.pk
    places = ", ".join(["%s"] * len(ids))
    text = query.format(ids=places, most=2 * MOST_NODES)
    return [run.pk for run in Run.objects.raw(text, [key.get_db_prep_value(id_, connection) for id_ in ids])]


def _roots(start: Iterable[UUID], parents: Mapping[UUID, UUID | None]) -> list[UUID]:
    """The highest visible ancestor of each, once, in order."""
    roots: dict[UUID, None] = {}
    for run in start:
        if run not in parents:
            continue
        place, seen = run, {run}
        while (parent := parents[place]) and parent in parents and parent not in seen:
            place = parent
            seen.add(place)
        roots[place] = None
    return list(roots)


def _built(runs: Sequence[Run], edited: Collection[UUID], who: Mapping[UUID, str | None]) -> dict[UUID, Node]:
    """The node of each run, built from the leaves up without recursion: a chain of branches may be long. edited: runs
    that say something else at the point where they branched. who: has branched each, as its first event tells it.
    """

    def place(node: Node) -> tuple[Any, ...]:
        return (node.turn is None, node.turn or 0, node.run.created, node.run.pk)

    below: dict[UUID | None, list[Run]] = defaultdict(list)
    judgings: dict[UUID | None, list[Run]] = defaultdict(list)
    for run in runs:
        (judgings if run.experiment.workflow in SCORING else below)[run.parent_id].append(run)
    built: dict[UUID, Node] = {}
    for run in reversed(_parents_first(runs)):
        children = sorted((built[child.pk] for child in below[run.pk] if child.pk in built), key=place)
        again = tuple(sorted(judgings[run.pk], key=lambda judging: (judging.created, judging.pk)))
        built[run.pk] = Node(run, _branch(run, run.pk in edited, who.get(run.pk)), tuple(children), again)
    return built


def _parents_first(runs: Sequence[Run]) -> list[Run]:
    """Ordered so that every run comes after its parent; without those whose parents go round in a circle."""
    ids = {run.pk for run in runs}
    below: dict[UUID | None, list[Run]] = defaultdict(list)
    for run in runs:
        below[run.parent_id if run.parent_id in ids else None].append(run)
    order = list(below[None])
    for run in order:
        order += below[run.pk]
    return order


def _branch(run: Run, edited: bool, who: str | None) -> Branch | None:
    if run.parent_id is None:
        return None
    message = run.branched_from
    by = who or run.experiment.owner.get_username()
    if message is None:
        return Branch(None, None, "", edited=False, by=by)
    return Branch(message.pk, message.turn, message.seat, edited, by)


def _rows(root: Node) -> list[Row]:
    """The tree line by line. Each line says how many lists end with it."""
    lines: list[tuple[Node, Node | None, int, bool]] = []
    waiting: list[tuple[Node, Node | None, int, bool]] = [(root, None, 0, True)]
    while waiting:
        line = waiting.pop()
        lines.append(line)
        node, _parent, depth, _opens = line
        waiting += reversed([(child, node, depth + 1, n == 0) for n, child in enumerate(node.children)])
    depths = [depth for _node, _parent, depth, _opens in lines[1:]] + [-1]
    return [
        Row(0, node, parent, depth, opens, range(max(0, depth - after)))
        for (node, parent, depth, opens), after in zip(lines, depths, strict=True)
    ]


SHOWN = ("experiment__owner", "branched_from")
