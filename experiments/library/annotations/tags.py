"""Tags: words on runs and experiments, put there by whoever may change these."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.errors import Forbidden, Invalid
from experiments.engine.text import is_storable
from experiments.models import Experiment, Run, Tag, Tagging
from experiments.models.experiment import Visibility
from experiments.models.library import LONGEST_TAG, folded

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

MOST_AT_ONCE = 500  # things
MOST_TAGS = 20  # on one thing
MOST_OFFERED = 200

Thing = Run | Experiment


@dataclass(frozen=True, slots=True)
class Word:
    """A tag as it is shown. of_experiment: it stands on the run's experiment, and so on all its runs."""

    name: str
    folded: str
    of_experiment: bool


def tag(things: Collection[Thing], name: str, *, by: "User") -> int:
    """Put a word on runs and experiments; how many did not have it. All of them, or none: raises Invalid for what is
    no word, and Forbidden where somebody may look at one of them only.
    """
    word = _checked(name)
    _require_right(things, by)
    with transaction.atomic():
        return sum(_put(thing, word, by) for thing in things)


def untag(things: Collection[Thing], name: str, *, by: "User") -> int:
    """Take a word off; how many had it. A word that stands nowhere any more is forgotten."""
    word = folded(name)
    _require_right(things, by)
    with transaction.atomic():
        taken: int = sum(_on(thing).filter(tag__folded=word).delete()[0] for thing in things)
        Tag.objects.filter(folded=word, taggings__isnull=True).delete()
        return taken


def set_tags(thing: Thing, names: Sequence[str], *, by: "User") -> None:
    """Exactly these words stand on it afterwards."""
    wanted = {folded(name): name for name in (_checked(one, "names") for one in names)}
    _require_right([thing], by)
    with transaction.atomic():
        for name in _on(thing).exclude(tag__folded__in=wanted).values_list("tag__name", flat=True):
            untag([thing], name, by=by)
        for name in wanted.values():
            tag([thing], name, by=by)


def words_of(runs: Iterable[Any]) -> dict[UUID, list[Word]]:
    """The words of each run, its experiment's among them: one query for all."""
    experiments = {run.pk: run.experiment_id for run in runs}
    rows = Tagging.objects.filter(Q(run__in=experiments) | Q(run__isnull=True, experiment__in=experiments.values()))
    own: dict[Any, dict[str, Word]] = defaultdict(dict)
    for row in rows.select_related("tag"):
        own[row.run_id or row.experiment_id].setdefault(row.tag.folded, _word(row))
    found = {run: {**own[experiment], **own[run]} for run, experiment in experiments.items()}
    return {run: [words[key] for key in sorted(words)] for run, words in found.items()}


def words_on(thing: Thing) -> list[Word]:
    return words_of([thing])[thing.pk] if isinstance(thing, Run) else list(map(_word, _on(thing).select_related("tag")))


def with_tag(runs: QuerySet[Run], name: str) -> QuerySet[Run]:
    """Those that have this word, or whose experiment has it."""
    rows = Tagging.objects.filter(tag__folded=folded(name))
    own = rows.filter(run=OuterRef("pk"))
    of_experiment = rows.filter(experiment=OuterRef("experiment_id"), run__isnull=True)
    return runs.filter(Exists(own) | Exists(of_experiment))


def vocabulary(person: "User | AnonymousUser") -> list[str]:
    """The words that somebody may meet, each once."""
    rows = Tag.objects.visible_to(person).order_by("folded", "created").values_list("folded", "name")
    words: dict[str, str] = {}
    for key, name in rows[:MOST_OFFERED]:
        words.setdefault(key, name)
    return list(words.values())


def _word(row: Tagging) -> Word:
    return Word(row.tag.name, row.tag.folded, row.run_id is None)


def _on(thing: Thing) -> "QuerySet[Tagging]":
    about = {"run": thing} if isinstance(thing, Run) else {"experiment": thing, "run": None}
    return Tagging.objects.filter(**about)


def _put(thing: Thing, name: str, by: "User") -> bool:
    run, experiment = (thing, thing.experiment) if isinstance(thing, Run) else (None, thing)
    if _on(thing).filter(tag__folded=folded(name)).exists():
        return False
    if _on(thing).count() >= MOST_TAGS:
        raise Invalid(
            name=_("One run or experiment can have at most %(most)s tags. Remove one first.") % {"most": MOST_TAGS}
        )
    # Whose word it is: what its project's members do not see adds nothing to their words.
    if experiment.project_id and experiment.visibility != Visibility.PRIVATE:
        place: dict[str, Any] = {"project_id": experiment.project_id, "owner": None}
    else:
        place = {"owner_id": experiment.owner_id, "project": None}
    word, _is_new = Tag.objects.get_or_create(folded=folded(name), **place, defaults={"name": name})
    Tagging.objects.get_or_create(tag=word, run=run, experiment=experiment, defaults={"by": by})
    return True


def _checked(name: str, field: str = "name") -> str:
    word = " ".join(name.split())
    is_word = word.isprintable() and is_storable(word) and "," not in word and len(folded(word)) <= 2 * LONGEST_TAG
    if not word or len(word) > LONGEST_TAG or not is_word:
        raise Invalid({field: [_("A tag has 1 to %(most)s characters and no comma.") % {"most": LONGEST_TAG}]})
    return word


def _require_right(things: Collection[Thing], by: "User") -> None:
    if not things:
        raise Invalid(name=_("Select runs to tag."))
    if len(things) > MOST_AT_ONCE:
        raise Invalid(name=_("At most %(most)s can be tagged at once.") % {"most": MOST_AT_ONCE})
    experiments = {thing.experiment_id if isinstance(thing, Run) else thing.pk for thing in things}
    changeable = Experiment.objects.changeable_by(by).filter(pk__in=experiments).count()
    if changeable < len(experiments):
        raise Forbidden(_("You cannot change some of these, so nothing was tagged. Select the ones you can change."))
