"""Presets: the system contexts of StarChamber that come with the platform, those of people, and whole set-ups."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Forbidden, Invalid, NotFound
from experiments.library.builtin import CUSTOM, BuiltinPreset, builtin_presets
from experiments.library.texts import complaints, origin_of, require_owner, with_plain_line_ends
from experiments.models import Preset
from experiments.runs.admission import require_role
from experiments.workflows.arena.config import LONGEST_PROMPT
from experiments.workflows.starchamber import WORKFLOW as STARCHAMBER

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

    Person = User | AnonymousUser

LONGEST_NAME = 80
LONGEST_DESCRIPTION = 2_000
MOST_PRESETS = 200


@dataclass(frozen=True, slots=True)
class PresetChoice:
    """A system context that somebody may use. id: its slug, or that of the row. context "": no system message.

    owner is None for a built-in one.
    """

    id: str
    label: str
    description: str
    context: str
    is_builtin: bool
    owner: str | None = None
    is_mine: bool = False
    shared: bool = False

    @property
    def origin(self) -> str:
        return origin_of(is_builtin=self.is_builtin, is_mine=self.is_mine)

    @classmethod
    def of_row(cls, row: Preset, user: "Person") -> "PresetChoice":
        return cls(
            id=str(row.pk),
            label=row.name,
            description=str(row.config.get("description", "")),
            context=str(row.config.get("context", "")),
            is_builtin=False,
            owner=row.owner.get_username(),
            is_mine=row.owner_id == user.pk,
            shared=row.shared,
        )

    @classmethod
    def of_builtin(cls, preset: BuiltinPreset) -> "PresetChoice":
        return cls(preset.slug, str(preset.label), str(preset.description), preset.context, is_builtin=True)


@dataclass(frozen=True, slots=True)
class ChosenContext:
    """What a StarChamber run is to record: the preset's id or `custom`, and the context itself."""

    preset: str
    context: str


def presets_for(user: "Person", workflow: str = STARCHAMBER.slug) -> list[PresetChoice]:
    """Every preset that the user may use: built-in ones, own ones, and then those that others share."""
    given = [PresetChoice.of_builtin(one) for one in builtin_presets().values()] if workflow == STARCHAMBER.slug else []
    rows = Preset.objects.visible_to(user).filter(workflow=workflow).select_related("owner").order_by("name", "pk")
    own = sorted((PresetChoice.of_row(row, user) for row in rows), key=lambda choice: not choice.is_mine)
    return [*given, *own]


def find_preset(user: "Person", id_: str) -> PresetChoice | None:
    return next((preset for preset in presets_for(user) if preset.id == id_), None)


def own_preset(user: "Person", id_: str) -> Preset:
    """To be changed. Raises NotFound, and Forbidden for one that is built in or that somebody else shares."""
    shown = find_preset(user, id_)
    if shown is None:
        raise NotFound
    if not shown.is_mine:
        raise Forbidden(_("You cannot change this. Copy it, and change the copy."))
    return Preset.objects.select_related("owner").get(pk=id_)


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
    _require_room(owner)
    preset = Preset(owner=owner, workflow=workflow, shared=shared)
    return _store(preset, name, description, context)


def save_setup(*, owner: "User", workflow: str, name: str, content: dict[str, object], shared: bool = False) -> Preset:
    """How a workflow is set up, {cast, config}, under a name of one's own. Raises Forbidden, and Invalid."""
    _require_room(owner)
    if errors := complaints("name", name, LONGEST_NAME, is_needed=True):
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
    require_owner(preset, by)
    kept = preset.config
    return _store(
        preset,
        preset.name if name is None else name,
        kept.get("description", "") if description is None else description,
        kept.get("context", "") if context is None else context,
    )


def share_preset(preset: Preset, *, by: "User", shared: bool = True) -> None:
    require_owner(preset, by)
    preset.shared = shared
    with transaction.atomic():
        preset.save(update_fields=["shared"])
        audit.record(audit.Action.SHARED, by=by, of=preset, lab=shared)


def delete_preset(preset: Preset, *, by: "User") -> None:
    """Runs that used it keep their text."""
    require_owner(preset, by)
    preset.delete()


def _require_room(owner: "User") -> None:
    require_role(owner)
    if Preset.objects.filter(owner=owner).count() >= MOST_PRESETS:
        raise Forbidden(_("You already have %(most)s presets. Delete some.") % {"most": MOST_PRESETS})


def _store(preset: Preset, name: str, description: str, context: str) -> Preset:
    errors = complaints("name", name, LONGEST_NAME, is_needed=True)
    errors |= complaints("description", description, LONGEST_DESCRIPTION)
    errors |= complaints("context", context, LONGEST_PROMPT)
    if errors:
        raise Invalid(errors)
    preset.name = " ".join(name.split())
    preset.config = {"context": with_plain_line_ends(context), "description": " ".join(description.split())}
    return _named_once(preset)


def _named_once(preset: Preset) -> Preset:
    try:
        with transaction.atomic():
            preset.save()
    except IntegrityError as error:
        raise Invalid({"name": [_("You already have a preset with this name.")]}) from error
    return preset
