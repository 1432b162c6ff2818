"""Scenarios: those that come with the platform, and those of people, of which a version never changes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Conflict, Forbidden, Invalid, NotFound
from experiments.library.builtin import BuiltinScenario, ScenarioConfig, builtin_scenarios
from experiments.library.texts import complaints, origin_of, require_owner, with_plain_line_ends
from experiments.models import Run, Scenario
from experiments.runs.admission import require_role
from experiments.setup.casting import checked_config
from experiments.workflows.arena import WORKFLOW as ARENA

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

    Person = User | AnonymousUser

LONGEST_TITLE = 120
LONGEST_DESCRIPTION = 2_000
MOST_SCENARIOS = 500


@dataclass(frozen=True, slots=True)
class ScenarioChoice:
    """A scenario that somebody may see. ref: its slug, or the id of this version. config: fields of the arena's Config.

    owner is None for a built-in one. row and builtin: where it comes from; one of them is None.
    """

    ref: str
    title: str
    description: str
    kind: str
    version: int
    config: ScenarioConfig
    owner: str | None = None
    is_mine: bool = False
    shared: bool = False
    archived: bool = False
    row: Scenario | None = None
    builtin: BuiltinScenario | None = None

    @property
    def is_builtin(self) -> bool:
        return self.builtin is not None

    @property
    def origin(self) -> str:
        return origin_of(is_builtin=self.is_builtin, is_mine=self.is_mine)

    @property
    def kind_label(self) -> str:
        return str(Scenario.Kind(self.kind).label)

    def instructions(self, side: str) -> str:
        prompts = self.config.get("prompts") or {}
        is_individual = self.config.get("prompting") == "individual"
        return str(prompts.get(side, "") if is_individual else self.config.get("prompt", ""))

    @classmethod
    def of_row(cls, row: Scenario, user: "Person") -> "ScenarioChoice":
        same = {name: getattr(row, name) for name in ("title", "description", "kind", "version", "shared", "archived")}
        owner, is_mine = row.owner.get_username(), row.owner_id == user.pk
        return cls(ref=str(row.pk), config=row.config, owner=owner, is_mine=is_mine, row=row, **same)

    @classmethod
    def of_builtin(cls, scenario: BuiltinScenario) -> "ScenarioChoice":
        return cls(
            ref=scenario.slug,
            title=str(scenario.title),
            description=str(scenario.description),
            kind=scenario.kind,
            version=scenario.version,
            config=scenario.config,
            builtin=scenario,
        )


def scenarios_for(user: "Person", *, search: str = "", kind: str = "", archived: bool = False) -> list[ScenarioChoice]:
    """The newest version of every scenario that the user may see: built-in ones, own ones, and then the shared.

    search: part of a title or description. archived: the user's archived ones instead of all.
    """
    if archived:
        mine = Scenario.objects.filter(owner_id=user.pk, archived=True)
        rows = mine.filter(pk__in={row.family: row.pk for row in mine.order_by("version")}.values())
    else:
        rows = Scenario.objects.visible_to(user).newest()
    if search:
        rows = rows.filter(Q(title__icontains=search) | Q(description__icontains=search))
    if kind:
        rows = rows.filter(kind=kind)
    mine_first = Case(When(owner_id=user.pk, then=Value(0)), default=Value(1), output_field=IntegerField())
    own = [ScenarioChoice.of_row(row, user) for row in rows.select_related("owner").order_by(mine_first, "title", "pk")]
    given = [] if archived else [ScenarioChoice.of_builtin(one) for one in builtin_scenarios().values()]
    fitting = [
        one
        for one in given
        if search.casefold() in f"{one.title}\n{one.description}".casefold() and kind in ("", one.kind)
    ]
    return [*fitting, *own]


def find_scenario(user: "Person", ref: str) -> ScenarioChoice:
    """The scenario of this slug, or the version of this id if the user may see it. Raises NotFound."""
    if builtin := builtin_scenarios().get(ref):
        return ScenarioChoice.of_builtin(builtin)
    try:
        row = Scenario.objects.visible_to(user).select_related("owner").get(pk=UUID(ref))
    except (ValueError, Scenario.DoesNotExist) as error:
        raise NotFound from error
    return ScenarioChoice.of_row(row, user)


def own_scenario(user: "Person", ref: str) -> Scenario:
    """To be changed. Raises NotFound, and Forbidden for one that is built in or that somebody else shares."""
    shown = find_scenario(user, ref)
    if shown.row is None or not shown.is_mine:
        raise Forbidden(_("You cannot change this. Copy it, and change the copy."))
    return shown.row


def versions_of(choice: ScenarioChoice, user: "Person") -> list[ScenarioChoice]:
    """Every version that the user may see, the newest first."""
    if choice.row is None:
        return [choice]
    rows = Scenario.objects.visible_to(user).filter(family=choice.row.family).select_related("owner")
    return [ScenarioChoice.of_row(row, user) for row in rows.order_by("-version")]


def runs_with(choice: ScenarioChoice, user: "Person") -> QuerySet[Run]:
    """The user's runs in which the models were given exactly these instructions."""
    if choice.config.get("prompting") == "individual":
        prompts = choice.config.get("prompts") or {}
        same = Q(**{f"experiment__config__prompts__{side}": text for side, text in prompts.items()})
    else:
        same = Q(experiment__config__prompting="shared", experiment__config__prompt=choice.config.get("prompt", ""))
    return Run.objects.visible_to(user).filter(same, experiment__workflow=ARENA.slug).select_related("experiment")


class RevisedAlready(Conflict):
    """Somebody has saved a newer version of the scenario meanwhile. newest: its number."""

    def __init__(self, newest: int) -> None:
        message = _("Version %(version)s of this scenario was saved in the meantime. Nothing was overwritten.")
        super().__init__(message % {"version": newest})
        self.newest = newest


def save_scenario(
    *, owner: "User", title: str, config: Any, description: str = "", kind: str = "mixed", shared: bool = False
) -> Scenario:
    """The first version of a scenario of one's own. Raises Forbidden, and Invalid naming fields."""
    require_role(owner)
    if Scenario.objects.filter(owner=owner, version=1).count() >= MOST_SCENARIOS:
        raise Forbidden(_("You already have %(most)s scenarios.") % {"most": MOST_SCENARIOS})
    content = _checked_content(title, description, kind, config)
    return Scenario.objects.create(owner=owner, shared=shared, **content)


def revise_scenario(
    scenario: Scenario, *, by: "User", title: str, config: Any, description: str = "", kind: str = "mixed"
) -> Scenario:
    """The version after this one, which itself stays as it is. Raises RevisedAlready when there is one."""
    require_role(by)
    require_owner(scenario, by)
    content = _checked_content(title, description, kind, config)
    try:
        with transaction.atomic():
            versions = Scenario.objects.select_for_update().filter(family=scenario.family)
            flags = versions.order_by("-version").values("shared", "archived")[0]
            return Scenario.objects.create(
                owner=by, family=scenario.family, version=scenario.version + 1, **flags, **content
            )
    except IntegrityError as error:
        newest = Scenario.objects.filter(family=scenario.family).order_by("-version").values_list("version", flat=True)
        raise RevisedAlready(newest[0]) from error


def copy_scenario(choice: ScenarioChoice, *, by: "User") -> Scenario:
    """A scenario of one's own with the content of one that one may see."""
    return save_scenario(
        owner=by, title=choice.title, description=choice.description, kind=choice.kind, config=choice.config
    )


def share_scenario(scenario: Scenario, *, by: "User", shared: bool = True) -> None:
    """Every version of it is shown to the lab, or to nobody else any more."""
    require_owner(scenario, by)
    with transaction.atomic():
        Scenario.objects.filter(family=scenario.family).update(shared=shared)
        audit.record(audit.Action.SHARED, by=by, of=scenario, lab=shared)


def archive_scenario(scenario: Scenario, *, by: "User", archived: bool = True) -> None:
    """Off the lists, or back on them. Nothing is deleted."""
    require_owner(scenario, by)
    Scenario.objects.filter(family=scenario.family).update(archived=archived)


def _checked_content(title: Any, description: Any, kind: Any, config: Any) -> dict[str, Any]:
    """The fields of a version. Every complaint at once, so that a form can show them all."""
    errors = complaints("title", title, LONGEST_TITLE, is_needed=True)
    errors |= complaints("description", description, LONGEST_DESCRIPTION)
    if kind not in Scenario.Kind.values:
        errors["kind"] = [_("Choose cooperation, competition or mixed.")]
    checked = None
    try:
        checked = checked_config(ARENA.slug, config)
    except Invalid as error:
        errors |= error.errors
    if errors or checked is None:
        raise Invalid(errors)
    words = {"title": " ".join(title.split()), "description": with_plain_line_ends(description), "kind": kind}
    return {**words, "config": checked.model_dump(mode="json")}
