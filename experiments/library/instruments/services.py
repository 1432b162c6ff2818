"""What changes instruments: saving one, revising it (another version), archiving it, and reading one from a file."""

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import ValidationError

from accounts import audit
from accounts.errors import Conflict, Errors, Forbidden, Invalid
from experiments.library.instruments.builtin import InstrumentFile
from experiments.library.texts import complaints
from experiments.models import Instrument, InstrumentVersion
from experiments.models.instruments import LONGEST_DESCRIPTION, LONGEST_TITLE
from experiments.runs.admission import require_role
from experiments.runs.sharing.sharing import checked_project
from experiments.setup.casting import invalid
from experiments.workflows.base.instruments import Definition

if TYPE_CHECKING:
    from accounts.models import User

MOST_INSTRUMENTS = 500  # of a person
LONGEST_FILE = 200_000  # characters


def save(
    *, owner: "User", title: str, definition: Any, description: str = "", project: str = "", shared: bool = False
) -> InstrumentVersion:
    """The first version of an instrument of one's own. project: the id of one that its owner has a share of. Raises
    Forbidden, and Invalid naming the fields; those of the definition as `definition.dimensions.0.name`.
    """
    require_role(owner)
    if Instrument.objects.filter(owner=owner).count() >= MOST_INSTRUMENTS:
        raise Forbidden(_("You already have %(most)s instruments.") % {"most": MOST_INSTRUMENTS})
    place = checked_project(project, owner=owner)
    checked = _checked(title, description, definition)
    with transaction.atomic():
        instrument = Instrument.objects.create(
            owner=owner, project=place, shared=shared, title=title.strip(), description=description.strip()
        )
        return _version(instrument, 1, checked, owner)


def revise(
    version: InstrumentVersion,
    *,
    by: "User",
    definition: Any,
    title: str | None = None,
    description: str | None = None,
    shared: bool | None = None,
) -> InstrumentVersion:
    """A new version after `version`, which stays as it is; None leaves the words and the sharing. The same version
    where the definition is the same. Raises Forbidden, Invalid, and Conflict when it is not the newest one any more.
    """
    instrument = version.instrument
    require_change(instrument, by)
    title = instrument.title if title is None else title
    description = instrument.description if description is None else description
    checked = _checked(title, description, definition)
    with transaction.atomic():
        held = Instrument.objects.select_for_update(of=("self",)).get(pk=instrument.pk)
        held.title, held.description = title.strip(), description.strip()
        held.shared = held.shared if shared is None else shared
        held.save(update_fields=["title", "description", "shared"])
        if held.newest.number != version.number:
            raise Conflict(_("A newer version of this instrument was saved in the meantime. Nothing was overwritten."))
        return version if checked.digest == version.digest else _version(held, version.number + 1, checked, by)


def archive(instrument: Instrument, *, by: "User", is_archived: bool = True) -> bool:
    """Offer it no longer, or again; False when that was so. Scans and scores that name it stay. Raises Forbidden."""
    require_change(instrument, by)
    with transaction.atomic():
        rows = Instrument.objects.filter(pk=instrument.pk, archived__isnull=is_archived)
        if not rows.update(archived=timezone.now() if is_archived else None):
            return False
        action = audit.Action.ARCHIVED if is_archived else audit.Action.RESTORED
        audit.record(action, by=by, of=instrument, name=instrument.title)
    return True


def read_file(text: str) -> InstrumentFile:
    """An instrument that was exported as a file. Raises Invalid naming the fields."""
    if len(text) > LONGEST_FILE:
        raise Invalid({"file": [_("This is longer than %(most)s characters.") % {"most": LONGEST_FILE}]})
    try:
        return InstrumentFile.model_validate_json(text)
    except ValidationError as error:
        raise invalid("file", error) from error


def checked_definition(definition: Any) -> Definition:
    """Raises Invalid naming the fields, as `definition.dimensions.0.name`."""
    try:
        return Definition.model_validate(definition)
    except ValidationError as error:
        raise invalid("definition", error) from error


def _checked(title: str, description: str, definition: Any) -> Definition:
    errors: Errors = {
        **complaints("title", title, LONGEST_TITLE, is_needed=True),
        **complaints("description", description, LONGEST_DESCRIPTION),
    }
    try:
        checked = checked_definition(definition)
    except Invalid as refusal:
        raise Invalid({**errors, **refusal.errors}) from refusal
    if errors:
        raise Invalid(errors)
    return checked


def require_change(instrument: Instrument, by: "User") -> None:
    if not Instrument.objects.changeable_by(by).filter(pk=instrument.pk).exists():
        raise Forbidden(_("You can view this instrument but not change it. Save it as one of your own instead."))


def _version(instrument: Instrument, number: int, definition: Definition, by: "User") -> InstrumentVersion:
    content = definition.model_dump(mode="json")
    return instrument.versions.create(number=number, definition=content, digest=definition.digest, by=by)
