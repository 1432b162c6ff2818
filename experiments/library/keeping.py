"""The verbs of the library: what people keep for later, and the demonstrations of what comes with the platform."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Conflict, Errors, Forbidden, Invalid
from experiments.engine.text import is_storable
from experiments.library import demonstrations
from experiments.library.shelf import PresetChoice, ScenarioChoice
from experiments.models import IdempotentRequest, Preset, Provider, ProviderModel, Run, Scenario
from experiments.runs.admission import require_role
from experiments.runs.reports.importing import import_document
from experiments.setup.casting import checked_config
from experiments.workflows.arena import WORKFLOW as ARENA
from experiments.workflows.arena.config import LONGEST_PROMPT
from experiments.workflows.starchamber import WORKFLOW as STARCHAMBER

if TYPE_CHECKING:
    from accounts.models import User
    from experiments.library.scenarios import BuiltinScenario

LONGEST_TITLE = 120
LONGEST_NAME = 80
LONGEST_DESCRIPTION = 2_000
MOST_SCENARIOS = 500
MOST_PRESETS = 200
DEMONSTRATION_PROVIDER = "demonstration"
NOWHERE = "http://demonstration.invalid/v1"


class RevisedAlready(Conflict):
    """Somebody has saved a newer version of the scenario meanwhile. newest: its number."""

    def __init__(self, newest: int) -> None:
        message = _("Version %(version)s of this scenario was saved meanwhile. Nothing was overwritten.")
        super().__init__(message % {"version": newest})
        self.newest = newest


def save_scenario(
    *, owner: "User", title: str, config: Any, description: str = "", kind: str = "mixed", shared: bool = False
) -> Scenario:
    """The first version of a scenario of one's own. Raises Forbidden, and Invalid naming fields."""
    require_role(owner)
    if Scenario.objects.filter(owner=owner, version=1).count() >= MOST_SCENARIOS:
        raise Forbidden(_("You keep %(most)s scenarios already.") % {"most": MOST_SCENARIOS})
    content = _checked_content(title, description, kind, config)
    return Scenario.objects.create(owner=owner, shared=shared, **content)


def revise_scenario(
    scenario: Scenario, *, by: "User", title: str, config: Any, description: str = "", kind: str = "mixed"
) -> Scenario:
    """The version after this one, which itself stays as it is. Raises RevisedAlready when there is one."""
    require_role(by)
    _require_owner(scenario, by)
    content = _checked_content(title, description, kind, config)
    try:
        with transaction.atomic():
            versions = Scenario.objects.select_for_update().filter(family=scenario.family)
            flags = versions.order_by("-version").values("shared", "archived")[0]
            return Scenario.objects.create(
                owner=by, family=scenario.family, version=scenario.version + 1, **flags, **content
            )
    except IntegrityError as error:
        raise RevisedAlready(_newest(scenario.family)) from error


def copy_scenario(choice: ScenarioChoice, *, by: "User") -> Scenario:
    """A scenario of one's own with the content of one that one may see."""
    return save_scenario(
        owner=by, title=choice.title, description=choice.description, kind=choice.kind, config=choice.config
    )


def share_scenario(scenario: Scenario, *, by: "User", shared: bool = True) -> None:
    """Every version of it is shown to the lab, or to nobody else any more."""
    _require_owner(scenario, by)
    with transaction.atomic():
        Scenario.objects.filter(family=scenario.family).update(shared=shared)
        audit.record(audit.Action.SHARED, by=by, of=scenario, lab=shared)


def archive_scenario(scenario: Scenario, *, by: "User", archived: bool = True) -> None:
    """Off the lists, or back on them. Nothing is deleted."""
    _require_owner(scenario, by)
    Scenario.objects.filter(family=scenario.family).update(archived=archived)


def save_preset(
    *,
    owner: "User",
    name: str,
    context: str,
    description: str = "",
    shared: bool = False,
    workflow: str = STARCHAMBER.slug,
) -> Preset:
    """A system context under a name of one's own. Raises Forbidden, and Invalid naming fields."""
    require_role(owner)
    if Preset.objects.filter(owner=owner).count() >= MOST_PRESETS:
        raise Forbidden(_("You keep %(most)s presets already: delete some.") % {"most": MOST_PRESETS})
    preset = Preset(owner=owner, workflow=workflow, shared=shared)
    return _store(preset, name, description, context)


def save_setup(*, owner: "User", workflow: str, name: str, content: dict[str, object], shared: bool = False) -> Preset:
    """How a workflow is set up, {cast, config}, under a name of one's own. Raises Forbidden, and Invalid."""
    require_role(owner)
    if Preset.objects.filter(owner=owner).count() >= MOST_PRESETS:
        raise Forbidden(_("You keep %(most)s presets already: delete some.") % {"most": MOST_PRESETS})
    if errors := _complaints("name", name, LONGEST_NAME, is_needed=True):
        raise Invalid(errors)
    preset = Preset(owner=owner, workflow=workflow, shared=shared, name=" ".join(name.split()), config=content)
    return _named_once(preset)


def copy_preset(choice: PresetChoice, *, by: "User") -> Preset:
    """A preset of one's own with the text of one that one may use, under a name that is still free."""
    taken = set(Preset.objects.filter(owner=by, workflow=STARCHAMBER.slug).values_list("name", flat=True))
    label = choice.label[: LONGEST_NAME - 6].strip()
    names = (label if number == 1 else f"{label} ({number})" for number in range(1, MOST_PRESETS + 2))
    free = next(name for name in names if name not in taken)
    return save_preset(owner=by, name=free, context=choice.context, description=choice.description)


def revise_preset(
    preset: Preset, *, by: "User", name: str | None = None, context: str | None = None, description: str | None = None
) -> Preset:
    """What is given is changed. Runs that used it keep the text that they were started with."""
    require_role(by)
    _require_owner(preset, by)
    kept = preset.config
    return _store(
        preset,
        preset.name if name is None else name,
        kept.get("description", "") if description is None else description,
        kept.get("context", "") if context is None else context,
    )


def share_preset(preset: Preset, *, by: "User", shared: bool = True) -> None:
    _require_owner(preset, by)
    preset.shared = shared
    with transaction.atomic():
        preset.save(update_fields=["shared"])
        audit.record(audit.Action.SHARED, by=by, of=preset, lab=shared)


def delete_preset(preset: Preset, *, by: "User") -> None:
    """Runs that used it keep their text."""
    _require_owner(preset, by)
    preset.delete()


def replay_demonstration(scenario: "BuiltinScenario | None", *, by: "User") -> tuple[Run, bool]:
    """The person's run of a scenario's demonstration, and whether it was made just now.

    There is one per person and version: a second click gets the run of the first. No model is asked, no cost arises,
    and the run's origin keeps it out of statistics. Raises Forbidden and Conflict.
    """
    require_role(by)
    if scenario is None:
        raise Conflict(_("This scenario has no demonstration: only those that come with the platform have one."))
    asked = IdempotentRequest.objects.filter(owner=by, key=_key(scenario))
    try:
        with transaction.atomic():
            before = asked.first()
            if before and (run := _made_by(before)):
                return run, False
            if before:  # its run was deleted
                asked.filter(pk=before.pk).delete()
            return _play(scenario, by), True
    except IntegrityError:
        rival = asked.first()
        if rival and (run := _made_by(rival)):
            return run, False
        raise


def _play(scenario: "BuiltinScenario", by: "User") -> Run:
    """The key is claimed first, so that of two clicks at once one makes the run and the other waits for it."""
    request = IdempotentRequest.objects.create(owner=by, key=_key(scenario), fingerprint="demonstration")
    _enter_models()
    title = _("Demonstration: %(title)s") % {"title": scenario.title}
    document = demonstrations.document(scenario, title=title, ended=timezone.now())
    run = import_document(document, by=by, origin=Run.Origin.DEMONSTRATION)
    request.answer = {"runs": [str(run.pk)]}
    request.save(update_fields=["answer"])
    return run


def _made_by(request: IdempotentRequest) -> Run | None:
    return Run.objects.filter(pk__in=request.answer.get("runs", []), experiment__owner=request.owner_id).first()


def _key(scenario: "BuiltinScenario") -> str:
    """Begins with a character that no `Idempotency-Key` may hold, so that no request of a person is in the way."""
    return f"\tdemonstration/{scenario.slug}/{scenario.version}"


def _enter_models() -> None:
    """The names under which demonstrations were written, for nobody to ask: they have no server."""
    defaults = {"base_url": NOWHERE, "is_active": False, "is_simulated": True}
    provider, _made = Provider.objects.get_or_create(name=DEMONSTRATION_PROVIDER, defaults=defaults)
    rows = [
        ProviderModel(provider=provider, slug=slug, upstream=slug, label=label, is_active=False, is_tool=True)
        for slug, label in demonstrations.MODELS.values()
    ]
    ProviderModel.objects.bulk_create(rows, ignore_conflicts=True)


def _checked_content(title: Any, description: Any, kind: Any, config: Any) -> dict[str, Any]:
    """The fields of a version. Every complaint at once, so that a form can show them all."""
    errors = _complaints("title", title, LONGEST_TITLE, is_needed=True)
    errors |= _complaints("description", description, LONGEST_DESCRIPTION)
    if kind not in Scenario.Kind.values:
        errors["kind"] = [_("Choose cooperation, competition or mixed.")]
    checked = None
    try:
        checked = checked_config(ARENA.slug, config)
    except Invalid as error:
        errors |= error.errors
    if errors or checked is None:
        raise Invalid(errors)
    words = {"title": " ".join(title.split()), "description": _lines(description), "kind": kind}
    return {**words, "config": checked.model_dump(mode="json")}


def _store(preset: Preset, name: str, description: str, context: str) -> Preset:
    errors = _complaints("name", name, LONGEST_NAME, is_needed=True)
    errors |= _complaints("description", description, LONGEST_DESCRIPTION)
    errors |= _complaints("context", context, LONGEST_PROMPT)
    if errors:
        raise Invalid(errors)
    preset.name = " ".join(name.split())
    preset.config = {"context": _lines(context), "description": " ".join(description.split())}
    return _named_once(preset)


def _named_once(preset: Preset) -> Preset:
    try:
        with transaction.atomic():
            preset.save()
    except IntegrityError as error:
        raise Invalid({"name": [_("You have a preset of this name already.")]}) from error
    return preset


def _complaints(field: str, text: Any, longest: int, *, is_needed: bool = False) -> Errors:
    if not isinstance(text, str):
        return {field: [_("A text is needed.")]}
    if not is_storable(text):
        return {field: [_("The text holds characters that cannot be stored (NUL or half a surrogate pair).")]}
    if len(text) > longest:
        return {field: [_("This is longer than %(most)s characters.") % {"most": longest}]}
    return {field: [_("This field cannot be empty.")]} if is_needed and not text.strip() else {}


def _lines(text: str) -> str:
    """Browsers send each line end as two characters, whichever was typed."""
    return text.replace("\r\n", "\n").strip()


def _require_owner(row: Scenario | Preset, by: "User") -> None:
    if row.owner_id != by.pk:
        raise Forbidden(_("This belongs to somebody else: copy it, and change the copy."))


def _newest(family: UUID) -> int:
    newest = Scenario.objects.filter(family=family).order_by("-version").values_list("version", flat=True)
    return newest[0]
