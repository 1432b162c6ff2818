"""What a person finds in the library: built-in, own, and shared by others, as values of one shape."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.utils.translation import gettext as _

from accounts.errors import Forbidden, NotFound
from experiments.library.presets import CUSTOM, DEFAULT, BuiltinPreset, builtin_presets
from experiments.library.scenarios import BuiltinScenario, ScenarioConfig, builtin_scenarios
from experiments.models import Preset, Run, Scenario
from experiments.setup.config_form import form_for
from experiments.workflows.arena import WORKFLOW as ARENA
from experiments.workflows.starchamber import WORKFLOW as STARCHAMBER

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

    Person = User | AnonymousUser


@dataclass(frozen=True, slots=True)
class ScenarioChoice:
    """A scenario that somebody may see. ref: its slug, or the id of this version. config: fields of the arena's Config.

    owner is "" for a built-in one. row and builtin: where it comes from; one of them is None.
    """

    ref: str
    title: str
    description: str
    kind: str
    version: int
    config: ScenarioConfig
    owner: str = ""
    is_mine: bool = False
    shared: bool = False
    archived: bool = False
    row: Scenario | None = None
    builtin: BuiltinScenario | None = None

    @property
    def shelf(self) -> Literal["builtin", "mine", "shared"]:
        return "builtin" if self.builtin else "mine" if self.is_mine else "shared"

    @property
    def kind_label(self) -> str:
        return str(Scenario.Kind(self.kind).label)

    def instructions(self, side: str) -> str:
        prompts = self.config.get("prompts") or {}
        is_individual = self.config.get("prompting") == "individual"
        return str(prompts.get(side, "") if is_individual else self.config.get("prompt", ""))


@dataclass(frozen=True, slots=True)
class PresetChoice:
    """A system context that somebody may use. id: its slug, or that of the row. context "": no system message.

    owner is "" for a built-in one.
    """

    id: str
    label: str
    description: str
    context: str
    is_builtin: bool
    owner: str = ""
    is_mine: bool = False
    shared: bool = False

    @property
    def shelf(self) -> Literal["builtin", "mine", "shared"]:
        return "builtin" if self.is_builtin else "mine" if self.is_mine else "shared"


@dataclass(frozen=True, slots=True)
class ChosenContext:
    """What a StarChamber run is to record: the preset's id or `custom`, and the context itself."""

    preset: str
    context: str


def scenarios_for(user: "Person", *, search: str = "", kind: str = "", archived: bool = False) -> list[ScenarioChoice]:
    """The newest version of every scenario that the user may see: built-in ones, own ones, and then the shared.

    search: part of a title or description. archived: the user's archived ones instead of all.
    """
    rows = _archived(user) if archived else Scenario.objects.visible_to(user).newest()
    if search:
        rows = rows.filter(Q(title__icontains=search) | Q(description__icontains=search))
    if kind:
        rows = rows.filter(kind=kind)
    mine_first = Case(When(owner_id=user.pk, then=Value(0)), default=Value(1), output_field=IntegerField())
    own = [_of_row(row, user) for row in rows.select_related("owner").order_by(mine_first, "title", "pk")]
    given = [] if archived else [_of_builtin(scenario) for scenario in builtin_scenarios().values()]
    return [*(choice for choice in given if _fits(choice, search, kind)), *own]


def find_scenario(user: "Person", ref: str) -> ScenarioChoice | None:
    """The scenario of this slug, or the version of this id if the user may see it."""
    if builtin := builtin_scenarios().get(ref):
        return _of_builtin(builtin)
    id_ = as_id(ref)
    row = Scenario.objects.visible_to(user).select_related("owner").filter(pk=id_).first() if id_ else None
    return _of_row(row, user) if row else None


def own_scenario(user: "Person", ref: str) -> Scenario:
    """To be changed. Raises NotFound, and Forbidden for one that is built in or that somebody else shares."""
    shown = find_scenario(user, ref)
    if shown is None:
        raise NotFound
    if shown.row is None or not shown.is_mine:
        raise Forbidden(_("This is not yours to change: copy it, and change the copy."))
    return shown.row


def own_preset(user: "Person", ref: str) -> Preset:
    """As `own_scenario`."""
    shown = find_preset(user, ref)
    if shown is None:
        raise NotFound
    if not shown.is_mine:
        raise Forbidden(_("This is not yours to change: copy it, and change the copy."))
    return Preset.objects.select_related("owner").get(pk=shown.id)


def versions_of(choice: ScenarioChoice, user: "Person") -> list[ScenarioChoice]:
    """Every version that the user may see, the newest first."""
    if choice.row is None:
        return [choice]
    rows = Scenario.objects.visible_to(user).filter(family=choice.row.family).select_related("owner")
    return [_of_row(row, user) for row in rows.order_by("-version")]


def runs_with(choice: ScenarioChoice, user: "Person") -> QuerySet[Run]:
    """The user's runs in which the models were given exactly these instructions."""
    if choice.config.get("prompting") == "individual":
        prompts = choice.config.get("prompts") or {}
        same = Q(**{f"experiment__config__prompts__{side}": text for side, text in prompts.items()})
    else:
        same = Q(experiment__config__prompting="shared", experiment__config__prompt=choice.config.get("prompt", ""))
    return Run.objects.visible_to(user).filter(same, experiment__workflow=ARENA.slug).select_related("experiment")


def initial_for(scenario: ScenarioChoice) -> dict[str, object]:
    """What fills the arena's set-up form: the scenario's settings under the names of that form's fields."""
    return initial_of(scenario.config)


def initial_of(config: Mapping[str, object]) -> dict[str, object]:
    """A configuration under the names of the set-up form's fields."""
    return form_for(ARENA.slug).values_of(config)


def presets_for(user: "Person", workflow: str = STARCHAMBER.slug) -> list[PresetChoice]:
    """Every preset that the user may use: built-in ones, own ones, and then those that others share."""
    given = [_of_builtin_preset(preset) for preset in builtin_presets().values()]
    rows = Preset.objects.visible_to(user).filter(workflow=workflow).select_related("owner").order_by("name", "pk")
    own = sorted((of_preset(row, user) for row in rows), key=lambda choice: not choice.is_mine)
    return [*(given if workflow == STARCHAMBER.slug else []), *own]


def find_preset(user: "Person", id_: str) -> PresetChoice | None:
    return next((preset for preset in presets_for(user) if preset.id == id_), None)


def default_preset() -> PresetChoice:
    """The one that a new StarChamber form begins with."""
    return _of_builtin_preset(builtin_presets()[DEFAULT])


def chosen_context(user: "Person", preset: str, context: str) -> ChosenContext:
    """What a form that sent both means. The text wins: a preset whose text was changed is `custom`.

    Without a text, the preset's own is meant: a browser without scripts cannot fill it in. A preset that the user may
    not see is none.
    """
    text = context.replace("\r\n", "\n").strip()
    presets = presets_for(user)
    named = [choice for choice in presets if choice.id == preset]
    if not text:
        return ChosenContext(named[0].id, named[0].context) if named else ChosenContext(CUSTOM, "")
    same = [choice for choice in (*named, *presets) if choice.context == text]
    return ChosenContext(same[0].id if same else CUSTOM, text)


def of_preset(row: Preset, user: "Person") -> PresetChoice:
    return PresetChoice(
        id=str(row.pk),
        label=row.name,
        description=str(row.config.get("description", "")),
        context=str(row.config.get("context", "")),
        is_builtin=False,
        owner=row.owner.get_username(),
        is_mine=row.owner_id == user.pk,
        shared=row.shared,
    )


def as_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def on_shelves(choices: Iterable[Any]) -> dict[str, list[Any]]:
    """By where they come from; empty shelves included."""
    shelves: dict[str, list[Any]] = {"builtin": [], "mine": [], "shared": []}
    for choice in choices:
        shelves[choice.shelf].append(choice)
    return shelves


def _archived(user: "Person") -> QuerySet[Scenario]:
    rows = Scenario.objects.filter(owner_id=user.pk, archived=True)
    newest = {row.family: row.pk for row in rows.order_by("version")}
    return rows.filter(pk__in=newest.values())


def _fits(choice: ScenarioChoice, search: str, kind: str) -> bool:
    text = f"{choice.title}\n{choice.description}".casefold()
    return search.casefold() in text and kind in ("", choice.kind)


def _of_row(row: Scenario, user: "Person") -> ScenarioChoice:
    return ScenarioChoice(
        ref=str(row.pk),
        title=row.title,
        description=row.description,
        kind=row.kind,
        version=row.version,
        config=row.config,
        owner=row.owner.get_username(),
        is_mine=row.owner_id == user.pk,
        shared=row.shared,
        archived=row.archived,
        row=row,
    )


def _of_builtin(scenario: BuiltinScenario) -> ScenarioChoice:
    return ScenarioChoice(
        ref=scenario.slug,
        title=str(scenario.title),
        description=str(scenario.description),
        kind=scenario.kind,
        version=scenario.version,
        config=scenario.config,
        builtin=scenario,
    )


def _of_builtin_preset(preset: BuiltinPreset) -> PresetChoice:
    return PresetChoice(preset.slug, str(preset.label), str(preset.description), preset.context, is_builtin=True)
