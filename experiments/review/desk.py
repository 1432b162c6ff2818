"""The review desk of curators and administrators: the runs on which they decide, and how one of them is read there."""

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from accounts import audit
from experiments.library.search.query import Sought, mark
from experiments.library.search.runs import beginnings, set_up_with, with_message
from experiments.models import Judgment, Message, Note, ReviewSlot, Run
from experiments.models.reviewed import WIDELY
from experiments.review.filling import disputed, distance
from experiments.workflows.base.flags import REVIEWED
from experiments.workflows.shards import without_shards

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

MESSAGES_SHOWN = 100  # on one page of a transcript
MOST_JUDGMENTS = 200  # of turns without messages
MOST_COMPARED = 2_000  # runs, the latest ones, in which scores are compared
TO_APPROVE, FLAGGED = "to_approve", "flagged"
LISTS = {
    TO_APPROVE: _("To approve"),
    FLAGGED: _("Flagged"),
    "returned": _("Returned"),
    "approved": _("Approved"),
    "excluded": _("Left out of ratings"),
    "all": _("All"),
}
ANY_FLAG = Sought(marks=(tuple(mark("flag", flag) for flag in REVIEWED),))
AWAITED = Q(experiment__visibility__in=WIDELY) | Q(review__submitted__isnull=False)


@dataclass(frozen=True, slots=True)
class Counts:
    """to_approve: submitted by their owners, or shared with the lab or everybody. flagged: with a flag in force."""

    to_approve: int
    flagged: int


def counts(user: "User | AnonymousUser") -> Counts:
    """How many runs wait for a curator's decision."""
    undecided = without_shards(Run.objects.decidable_by(user).undecided())
    flagged = Count("pk", filter=with_message(ANY_FLAG))
    return Counts(**undecided.aggregate(to_approve=Count("pk", filter=AWAITED), flagged=flagged))


def asked_for(asked: "Mapping[str, Any]", user: "User") -> "QuerySet[Run]":
    """As `fitting`. An administrator's search in runs that are not shared with them is recorded."""
    if asked["show"] == "all" and user.is_admin and asked["search"]:
        audit.record(audit.Action.RUNS_SEARCHED, by=user, target="run", name=asked["search"])
    return fitting(user, asked["show"], asked)


def fitting(user: "User | AnonymousUser", show: str, asked: "Mapping[str, Any]") -> "QuerySet[Run]":
    """The runs of one of LISTS that fit, in no sequence. asked: what `forms.DeskForm` asks for, by its names."""
    runs = _listed(user, show)
    runs = runs.filter(experiment__workflow=asked["workflow"]) if asked.get("workflow") else without_shards(runs)
    if asked.get("search"):
        sought = Sought(beginnings(asked["search"]))
        either = (set_up_with(sought), with_message(sought))
        titled, said = (Run.objects.filter(one).order_by().values("pk") for one in either)
        runs = runs.filter(pk__in=titled.union(said))  # an OR of both would be asked of each run in turn
    if asked.get("owner"):
        runs = runs.filter(experiment__owner=asked["owner"])
    if asked.get("project"):
        runs = runs.filter(experiment__project=asked["project"])
    if asked.get("flag"):
        runs = runs.filter(with_message(Sought(marks=((mark("flag", asked["flag"]),),))))
    if asked.get("disagreement") is not None:
        runs = runs.filter(pk__in=_disagreeing(runs, asked["disagreement"]))
    return runs.order_by()


def _listed(user: "User | AnonymousUser", show: str) -> "QuerySet[Run]":
    decidable = Run.objects.decidable_by(user)
    if show == TO_APPROVE:
        return decidable.undecided().filter(AWAITED)
    if show == FLAGGED:
        return decidable.undecided().filter(with_message(ANY_FLAG))
    if show in ("returned", "approved", "excluded"):
        return decidable.filter(**{f"review__{show}__isnull": False})
    return Run.objects.readable_at_desk(user)


def _disagreeing(runs: "QuerySet[Run]", least: float) -> set[UUID]:
    """Where two judges, or two reviewers of an item, are at least so far apart on one measure."""
    keys = list(runs.order_by("-created").values_list("pk", flat=True)[:MOST_COMPARED])
    given: dict[tuple[UUID, UUID], list[dict[str, Any]]] = defaultdict(list)
    answered = ReviewSlot.objects.answered().filter(item__run__in=keys)
    for run, item, scores in answered.values_list("item__run", "item", "answer__scores"):
        given[run, item].append(scores)
    people = {run for (run, _item), scores in given.items() if len(scores) > 1 and distance(scores) >= least}
    return people | {run for run, _turn, _subject in disputed(keys, least)}


def next_to_approve(run: Run, user: "User | AnonymousUser") -> Run | None:
    """The run below this one in the list; the first one below the last."""
    rest = fitting(user, TO_APPROVE, {}).exclude(pk=run.pk).order_by("-created", "-id")
    return rest.filter(created__lte=run.created).first() or rest.first()


def note_reading(run: Run, *, by: "User", opened: str = "run") -> None:
    """Record that somebody reads a run that is not shared with them. opened: what of it."""
    if not Run.objects.visible_to(by).filter(pk=run.pk).exists():
        audit.record(audit.Action.RUN_READ, by=by, of=run, opened=opened)


@dataclass(frozen=True, slots=True)
class Entry:
    """A message, with the judgments of its turn where it is the last of the turn."""

    message: Message
    judgments: list[Judgment]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A page of what was said. others: judgments of turns in which there are no messages, on the last page."""

    page: Page[Message]
    entries: list[Entry]
    others: list[Judgment]


def transcript(run: Run, number: str | None) -> Transcript:
    """number: of the page, as its address says it."""
    page = Paginator(run.messages.order_by("seq"), MESSAGES_SHOWN).get_page(number)
    shown = list(page)
    of_turns = run.messages.filter(turn__in={message.turn for message in shown}).order_by()
    last = dict(of_turns.values_list("turn").annotate(Max("seq")))
    judged: defaultdict[int, list[Judgment]] = defaultdict(list)
    for judgment in run.judgments.filter(turn__in=last):
        judged[judgment.turn].append(judgment)
    entries = [Entry(one, judged[one.turn] if one.seq == last[one.turn] else []) for one in shown]
    others = run.judgments.exclude(turn__in=run.messages.order_by().values("turn"))
    return Transcript(page, entries, [] if page.has_next() else list(others[:MOST_JUDGMENTS]))


def notes(run: Run, user: "User | AnonymousUser") -> "QuerySet[Note]":
    """Those that are shared with whoever reads the run, and one's own."""
    rows = run.notes.filter(Q(shared=True) | Q(author_id=user.pk)).select_related("author", "message")
    return rows.order_by("message__seq", "created", "id")
