"""What the palette finds for some words: what can be started, pages that one may open, and things by their names."""

from collections.abc import Iterable, Iterator
from itertools import islice

from django.contrib.auth.decorators import login_required
from django.db.models import Q, QuerySet
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from accounts.models import User
from accounts.people import person
from arenasite import documentation, navigation
from experiments.library.scenarios import scenarios_for
from experiments.models import Dataset, Experiment, ProviderModel, Run
from experiments.models.labels import workflow_name
from experiments.workflows.shards import without_shards
from leaderboard.boards.listing import visible_ladders
from leaderboard.boards.titles import ladder_title

MOST_OF_A_KIND = 6
MOST_WORDS, LONGEST = 8, 200

Entry = tuple[str, str, str]  # name, what else there is to say, address


@login_required
@never_cache
@require_GET
def palette(request: HttpRequest) -> JsonResponse:
    """Entries with every word of `q` in their names, by kind; without words what is used most."""
    words = request.GET.get("q", "").replace("\0", "")[:LONGEST].split()[:MOST_WORDS]
    who = person(request)
    pages = list(_pages(request))
    found: list[tuple[str, Iterable[Entry]]] = [
        (_("Start"), _fitting(_actions(who), words)),
        (_("Pages"), _fitting(pages, words)),
        (_("Runs"), _runs(who, words)),
    ]
    if words:
        found += [
            (_("Experiments"), _experiments(who, words)),
            (_("Scenarios"), _fitting(_scenarios(who), words)),
            (_("Datasets"), _datasets(who, words)),
            (_("Boards"), _fitting(_boards(who), words)),
            (_("Models"), _models(words)),
            (_("Documentation"), _fitting(_documents(), words)),
        ]
    most = MOST_OF_A_KIND if words else len(pages)
    groups = [
        {
            "name": kind,
            "entries": [
                {"name": name, "detail": detail, "address": address} for name, detail, address in islice(entries, most)
            ],
        }
        for kind, entries in found
    ]
    return JsonResponse({"groups": [group for group in groups if group["entries"]]})


def _fitting(entries: Iterable[Entry], words: list[str]) -> Iterator[Entry]:
    wanted = [word.casefold() for word in words]
    for entry in entries:
        said = f"{entry[0]} {entry[1]}".casefold()
        if all(word in said for word in wanted):
            yield entry


def _named(words: list[str], *fields: str) -> Q:
    """Every word is in one of these fields."""
    fits = Q()
    for word in words:
        fits &= Q(*((f"{field}__icontains", word) for field in fields), _connector=Q.OR)
    return fits


def _actions(who: User) -> Iterator[Entry]:
    if not who.may_experiment:
        return
    for item in navigation.new().items:
        yield _("New run: %(workflow)s") % {"workflow": item.name}, str(item.hint), item.address
    yield _("New scenario"), "", reverse("scenario-new")
    yield _("New dataset"), "", reverse("dataset-new")
    yield _("New review queue"), "", reverse("review-queue-new")


def _pages(request: HttpRequest) -> Iterator[Entry]:
    shell = navigation.shell(request)
    yield _("Home"), "", reverse("home")
    for menu in (*shell.menus, shell.account):
        if menu.group.slug != navigation.NEW:
            for item in menu.items:
                yield str(item.name), str(menu.name), item.address
    yield _("Notifications"), "", reverse("notifications")
    yield _("API reference"), "", reverse("api-docs")


def _runs(who: User, words: list[str]) -> Iterator[Entry]:
    rows: QuerySet[Run] = without_shards(Run.objects.owned_by(who)).filter(_named(words, "experiment__title"))
    for run in rows.select_related("experiment").order_by("-created", "-pk")[:MOST_OF_A_KIND]:
        said = f"{workflow_name(run.experiment.workflow)} · {run.get_state_display()} · {run.created:%Y-%m-%d}"
        yield run.experiment.title, said, run.get_absolute_url()


def _experiments(who: User, words: list[str]) -> Iterator[Entry]:
    for one in Experiment.objects.visible_to(who).filter(_named(words, "title"))[:MOST_OF_A_KIND]:
        said = f"{workflow_name(one.workflow)} · {one.created:%Y-%m-%d}"
        yield one.title, said, reverse("experiment", args=[one.pk])


def _scenarios(who: User) -> Iterator[Entry]:
    for one in scenarios_for(who):
        yield one.title, one.kind_label, reverse("scenario", args=[one.ref])


def _datasets(who: User, words: list[str]) -> Iterator[Entry]:
    for one in Dataset.objects.visible_to(who).filter(_named(words, "name", "slug"))[:MOST_OF_A_KIND]:
        yield one.name, one.get_modality_display(), one.get_absolute_url()


def _boards(who: User) -> Iterator[Entry]:
    for one in visible_ladders(who).filter(withdrawn_reason="").defer("standing__data"):
        yield ladder_title(one), "", one.get_absolute_url()


def _models(words: list[str]) -> Iterator[Entry]:
    for one in ProviderModel.objects.available().filter(_named(words, "label", "slug"))[:MOST_OF_A_KIND]:
        yield one.label, one.provider.name, f"{reverse('models')}?{urlencode({'search': one.slug})}"


def _documents() -> Iterator[Entry]:
    for name, title in documentation.titles().items():
        yield title, "", documentation.address_of(name)
