"""The groups of pages in the header, which page stands under which, and the page of the documentation about it.

A page belongs to the entry whose patterns fit the name of its route; the longest pattern decides. Workflows, also
installed ones, bring their own entries.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.urls import ResolverMatch, reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models import User
from arenasite import documentation
from arenasite.describing import VERSION
from experiments.review.curation import may_curate
from experiments.workflows import REGISTRY, surface_of
from experiments.workflows.base.surface import Text

NEW = "new"
Who = User | AnonymousUser
Right = Callable[[Who], bool]


def everybody(who: Who) -> bool:
    return True


def members(who: Who) -> bool:
    return who.is_authenticated


def experimenters(who: Who) -> bool:
    return isinstance(who, User) and who.may_experiment


def admins(who: Who) -> bool:
    return isinstance(who, User) and who.is_admin


def voters(who: Who) -> bool:
    return who.is_authenticated or settings.PUBLIC_VOTES


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a menu. below: patterns of the routes that lead on from its page. hint: what it is for, in one
    sentence. drawing: the inside of its icon. help: its page of the documentation, where it is not its group's.
    """

    route: str
    name: Text
    right: Right = members
    below: tuple[str, ...] = ()
    hint: Text = ""
    drawing: str = ""
    query: str = ""
    help: str = ""

    @property
    def address(self) -> str:
        return f"{reverse(self.route)}{self.query}"

    def fit(self, route: str) -> int:
        """The length of its longest pattern that fits; 0 where none does."""
        return max((len(one) for one in (self.route, *self.below) if fnmatchcase(route, one)), default=0)


@dataclass(frozen=True, slots=True)
class Group:
    slug: str
    name: Text
    items: tuple[Item, ...]
    help: str


RUNS = Group(
    "runs",
    _("Runs"),
    (
        Item(
            "runs",
            _("Runs"),
            below=(
                *("run", "run-*", "runs-*", "experiment", "experiment-*", "campaign-*", "call", "message-*"),
                *("compare-*", "note", "note-*", "view", "view-*", "file", "file-*", "link-*", "shared", "shared-*"),
            ),
        ),
        Item("studies", _("Studies"), below=("study", "study-*"), help="studies"),
        Item("search", _("Search")),
        Item("run-import", _("Import runs"), below=("run-import-*",), help="data"),
        Item("bulk-exports", _("Exports"), below=("bulk-export*",), help="data"),
    ),
    "experiments",
)
LIBRARY = Group(
    "library",
    _("Library"),
    (
        Item("scenarios", _("Scenarios"), below=("scenario", "scenario-*")),
        Item("presets", _("Presets"), below=("preset-*",)),
        Item(
            "datasets",
            _("Datasets"),
            everybody,
            below=("dataset*", "battles-import*", "log-import", "contestant-*", "variant-*", "outputs-*"),
            help="battles",
        ),
        Item("instruments", _("Instruments"), below=("instrument", "instrument-*"), help="instruments"),
        Item("review-rubrics", _("Rubrics"), below=("review-rubric*",), help="review"),
    ),
    "experiments",
)
LEADERBOARD = Group(
    "leaderboard",
    _("Leaderboard"),
    (
        Item("leaderboard", _("Boards"), everybody, below=("ladder*", "battle", "battle-*", "board-*")),
        Item("votes", _("Vote"), voters, below=("vote*", "dataset-voters", "public-arena*"), help="battles"),
        Item("my-votes", _("My votes"), help="battles"),
        Item("methodology", _("How ratings are made"), everybody),
    ),
    "ratings",
)
REVIEW = Group(
    "review",
    _("Review"),
    (
        Item("review-desk", _("Review desk"), may_curate, below=("review-desk-*",)),
        Item("review-arena", _("Prompts of the public arena"), may_curate, help="battles"),
        Item("review", _("Queues"), below=("review-*",)),
    ),
    "review",
)
LAB = Group(
    "lab",
    _("Lab"),
    (
        Item("people", _("People"), admins, below=("person", "person-*")),
        Item("projects", _("Projects"), below=("project", "project-*")),
        Item(
            "providers",
            _("Providers"),
            admins,
            below=("provider", "provider-*", "start", "start-*"),
            help="administering",
        ),
        Item("models", _("Models"), below=("model", "model-new", "model-try"), help="quickstart"),
        Item("model-defaults", _("Default models"), admins, help="administering"),
        Item("lab-keys", _("Lab keys"), admins),
        Item("public-arena-settings", _("Public arena"), admins, help="battles"),
        Item("budgets", _("Budgets"), admins, below=("budget-*",)),
        Item("usage", _("Usage of the lab"), admins, query="?scope=lab"),
        Item("audit", _("Audit log"), admins, below=("audit-*",)),
        Item("operator", _("System status"), admins, below=("operator-*",), help="operating"),
        Item("admin:index", _("Django admin"), admins),
    ),
    "administering",
)
ACCOUNT = Group(
    "account",
    _("Account"),
    (
        Item(
            "account",
            _("Account and API tokens"),
            below=("account_*", "mfa_*", "socialaccount_*", "sign-out-*", "token-*"),
            help="security",
        ),
        Item("my-keys", _("My keys"), below=("key-*",), help="security"),
        Item("my-webhooks", _("My webhooks"), below=("webhook*", "delivery-*"), help="api"),
        Item("usage", _("My usage"), below=("usage-*",)),
    ),
    "experiments",
)
GROUPS = (RUNS, LIBRARY, LEADERBOARD, REVIEW, LAB)


def new() -> Group:
    """What can be started: the workflows that have a set-up page of their own, and a study."""
    surfaces = {slug: surface_of(slug) for slug in REGISTRY}
    items = (
        Item(
            surface.home,
            surface.name,
            experimenters,
            hint=surface.purpose or surface.description,
            drawing=surface.icon,
            help=slug if slug in documentation.titles() else "",
        )
        for slug, surface in surfaces.items()
        if surface.home
    )
    study = Item(
        "study-new",
        _("Study"),
        experimenters,
        below=("study-design-new",),
        hint=_("Vary models, prompts or settings over many runs, with a plan written beforehand."),
        drawing='<path d="M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z"/>',
        help="studies",
    )
    return Group(NEW, pgettext_lazy("menu", "New"), (*items, study), "workflows")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page is: its entry, whether that may be opened, and whether the page is below the entry's own."""

    group: Group
    item: Item
    may_open: bool
    is_below: bool


@dataclass(frozen=True, slots=True)
class Menu:
    group: Group
    items: tuple[Item, ...]
    current: Item | None

    @property
    def name(self) -> Any:
        return self.group.name


@dataclass(frozen=True, slots=True)
class Shell:
    """What stands around a page. help: the title of the page of the documentation about it, "" for the first one."""

    menus: tuple[Menu, ...]
    account: Menu
    place: Place | None
    help: str
    help_address: str
    version: str


def shell(request: HttpRequest) -> Shell:
    who: Who = request.user
    groups = (new(), *GROUPS)
    place = place_of(request.resolver_match, who, (*groups, ACCOUNT))
    menus = [_menu(group, who, place) for group in groups]
    page = (place.item.help or place.group.help) if place else documentation.INDEX
    return Shell(
        menus=tuple(menu for menu in menus if menu.items),
        account=_menu(ACCOUNT, who, place),
        place=place,
        help=documentation.titles()[page] if place else "",
        help_address=documentation.address_of(page),
        version=VERSION,
    )


def _menu(group: Group, who: Who, place: Place | None) -> Menu:
    items = tuple(item for item in group.items if item.right(who))
    return Menu(group, items, place.item if place and place.item in items else None)


def place_of(match: ResolverMatch | None, who: Who, groups: Sequence[Group]) -> Place | None:
    """None for a page that stands under nothing, such as the home page. Of entries that fit alike, the first that the
    person may open.
    """
    if match is None or match.url_name is None or match.namespaces:
        return None
    name = match.url_name
    found = [(item.fit(name), item.right(who), group, item) for group in groups for item in group.items]
    fit, _right, group, item = max(found, key=lambda one: one[:2])
    if not fit and (home := surface_of(match.kwargs.get("workflow", "")).home):
        group, item = next((group, item) for group in groups for item in group.items if item.route == home)
    elif not fit and name in _routes_of_workflows():
        group, item = RUNS, RUNS.items[0]
    elif not fit:
        return None
    return Place(group, item, item.right(who), item.route != name)


@cache
def _routes_of_workflows() -> frozenset[str]:
    """Of pages that workflows bring beside their set-up page: they are about runs where no entry says otherwise."""
    modules = [import_module(surface.urls) for surface in map(surface_of, REGISTRY) if surface.urls]
    return frozenset(pattern.name for module in modules for pattern in module.urlpatterns)
