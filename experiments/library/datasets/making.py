"""The verbs of datasets: made of a file here or of one that was sent, given further outputs, shown to others."""

import secrets
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.text import slugify
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Forbidden, Invalid
from experiments.lab.webhooks import outbox
from experiments.lab.webhooks.outbox import Kind
from experiments.library.datasets import jobs, process, uploads
from experiments.library.datasets.reader.names import is_version
from experiments.library.datasets.taking import READ_SHARE, Added, empty, take_outputs, take_samples
from experiments.models import Dataset, Upload
from experiments.tasks import clock

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

    from accounts.models import User

Columns = Mapping[str, Any]
RESERVED = {"new"}  # an address of its own
CURATING = ("curator", "admin")


def may_curate(person: Any, dataset: Dataset) -> bool:
    """Whether a person may add outputs and leave contestants out: its owner, curators and admins."""
    return bool(person.is_active and (dataset.owner_id == person.pk or person.role in CURATING))


def create(
    *,
    owner: "User",
    name: str,
    path: Path | None = None,
    upload: "Upload | UploadedFile[Any] | None" = None,
    columns: Columns | None = None,
    modality: str = Dataset.Modality.TEXT,
    visibility: str = Dataset.Visibility.PRIVATE,
    subset: str = "",
    slug: str = "",
    description: str = "",
    takes_votes: bool = True,
    heard: process.Heard = process.unheard,
) -> Dataset:
    """A dataset of a file or folder on this machine (path: it is read before this returns), or of one that was sent
    (upload: a worker reads it).

    columns: which column is read as what, {"instruction": "prompt", "outputs": {"a contestant": "its column"}, …}; what
    is left out is recognised by its name. Raises Forbidden, Invalid, and Refused for what cannot be read.
    """
    if not owner.may_experiment:
        raise Forbidden(_("Your role lets you look at datasets, not make them. Ask an administrator."))
    fields = {"modality": modality, "visibility": visibility, "description": description, "takes_votes": takes_votes}
    fresh = _checked(Dataset(owner=owner, name=name.strip(), slug=slug, **fields), chosen_slug=slug)
    orders = {"columns": checked_columns(columns), "subset": subset.strip()}
    if path is not None:
        return _load(fresh, path, orders, heard)
    kept = upload if isinstance(upload, Upload) else uploads.keep(upload, owner=owner, kind=Upload.Kind.SAMPLES)
    return _queue(fresh, kept, orders)


def add_outputs(
    dataset: Dataset,
    *,
    by: "User",
    path: Path,
    contestant: str = "",
    version: str = "",
    columns: Columns | None = None,
    heard: process.Heard = process.unheard,
) -> Added:
    """Outputs from a file or folder on this machine; those that are there already are kept.

    contestant: whose they are, where neither folders nor a column say it. version: "name_yyyymmdd", today's unless
    given. Raises Forbidden, Invalid and Refused.
    """
    orders = _output_orders(dataset, by, contestant, version, columns)
    with process.spool_in(Path(settings.UPLOADS_DIR)) as spool:
        version = orders.pop("version")
        found = process.read(_existing(path), spool, what="outputs", heard=_part_of(heard), **orders)
        return take_outputs(dataset, found, heard, version)


def send_outputs(
    dataset: Dataset,
    *,
    by: "User",
    upload: "Upload | UploadedFile[Any] | None",
    contestant: str = "",
    version: str = "",
    columns: Columns | None = None,
) -> Upload:
    """The same from a file that was sent; a worker reads it."""
    orders = _output_orders(dataset, by, contestant, version, columns)
    if not isinstance(upload, Upload):
        upload = uploads.keep(upload, owner=by, kind=Upload.Kind.OUTPUTS, dataset=dataset)
    with transaction.atomic():
        upload.asked, upload.state = orders, Upload.State.WAITING
        upload.save(update_fields=["asked", "state"])
        jobs.wake()
    return upload


def publish(dataset: Dataset, *, by: "User", visibility: str) -> None:
    """Who may see it from now on: its owner decides."""
    if dataset.owner_id != by.pk:
        raise Forbidden(_("Only the owner of a dataset decides who may see it."))
    if visibility not in Dataset.Visibility.values:
        raise Invalid({"visibility": [_("Choose only me, the lab or everybody.")]})
    before, dataset.visibility = dataset.visibility, visibility
    with transaction.atomic():
        dataset.save(update_fields=["visibility"])
        audit.record(audit.Action.SHARED, by=by, of=dataset, before=before, after=visibility)


def checked_columns(columns: Any) -> dict[str, object]:
    """A mapping of parts to names of columns, "outputs" to one of contestants. Raises Invalid."""
    if columns is None:
        return {}
    outputs = columns.get("outputs", {}) if isinstance(columns, Mapping) else None
    plain = {part: name for part, name in columns.items() if part != "outputs"} if outputs is not None else {}
    is_sound = isinstance(outputs, Mapping) and all(
        isinstance(text, str) for pair in (*plain.items(), *outputs.items()) for text in pair
    )
    if not is_sound:
        said = _("Name a column for each part, and under “outputs” one for each contestant.")
        raise Invalid({"columns": [said]})
    return dict(columns)


def _output_orders(
    dataset: Dataset, by: "User", contestant: str, version: str, columns: Columns | None
) -> dict[str, Any]:
    """What the reader is told. Raises Forbidden and Invalid."""
    if not may_curate(by, dataset):
        raise Forbidden(_("Only the owner of a dataset, curators and admins add outputs to it."))
    if not dataset.is_ready:
        raise Invalid({"file": [_("The dataset is not read yet: wait until it is ready.")]})
    if version and not is_version(version):
        said = _("A version is a name, an underscore and a day: solar_20260131.")
        raise Invalid({"version": [said]})
    if len(contestant) > 200:
        raise Invalid({"contestant": [_("A name has at most 200 characters.")]})
    subsets = list(dataset.samples.order_by().values_list("subset", flat=True).distinct()[:1000])
    named = {"contestant": contestant.strip(), "subsets": [name for name in subsets if name]}
    return {**named, "version": version, "columns": checked_columns(columns)}


def _load(dataset: Dataset, path: Path, orders: dict[str, Any], heard: process.Heard) -> Dataset:
    with process.spool_in(Path(settings.UPLOADS_DIR)) as spool:
        found = process.read(_existing(path), spool, what="samples", heard=_part_of(heard), **orders)
        dataset.source, dataset.state, dataset.beat = path.name[:300], Dataset.State.READING, clock.now()
        _save(dataset)

        def held(share: float) -> None:
            Dataset.objects.filter(pk=dataset.pk).update(beat=Now(), progress=share)
            heard(share)

        try:
            take_samples(dataset, found, held)
        except BaseException:
            empty(dataset, lambda: None)
            dataset.delete()
            raise
    finish(dataset)
    return dataset


def finish(dataset: Dataset) -> None:
    """Its samples never change from here on."""
    dataset.state, dataset.progress, dataset.refused_reason = Dataset.State.READY, 1, ""
    with transaction.atomic():
        dataset.save(update_fields=["state", "progress", "refused_reason", "columns", "warnings"])
        outbox.of_dataset(dataset, Kind.DATASET_READY)


def _queue(dataset: Dataset, upload: Upload, orders: dict[str, Any]) -> Dataset:
    dataset.source = upload.name
    with transaction.atomic():
        _save(dataset)
        asked = {"asked": orders, "dataset": dataset, "state": Upload.State.WAITING}
        if not Upload.objects.filter(pk=upload.pk, state=Upload.State.KEPT).update(**asked):
            raise Invalid({"file": [_("This file is being read already.")]})
        jobs.wake()
    return dataset


def _save(dataset: Dataset) -> None:
    """Under its short name, or that with a few letters more when it is taken meanwhile."""
    try:
        with transaction.atomic():
            dataset.save(force_insert=True)
    except IntegrityError:
        dataset.slug = f"{dataset.slug[:70]}-{secrets.token_hex(3)}"
        dataset.save(force_insert=True)


def _checked(dataset: Dataset, *, chosen_slug: str) -> Dataset:
    """Raises Invalid."""
    errors: dict[str, list[str]] = {}
    if not dataset.name or len(dataset.name) > 200 or not dataset.name.isprintable():
        errors["name"] = [_("Give it a name of up to 200 characters.")]
    if dataset.modality not in Dataset.Modality.values:
        errors["modality"] = [_("Choose text or image.")]
    if dataset.visibility not in Dataset.Visibility.values:
        errors["visibility"] = [_("Choose only me, the lab or everybody.")]
    if chosen_slug and (slugify(chosen_slug) != chosen_slug or len(chosen_slug) > 80):
        errors["slug"] = [_("A short name has small letters, digits and dashes, 80 at most.")]
    elif chosen_slug in RESERVED or (chosen_slug and Dataset.objects.filter(slug=chosen_slug).exists()):
        errors["slug"] = [_("There is a dataset of this short name.")]
    if errors:
        raise Invalid(errors)
    dataset.slug = chosen_slug or free_slug(dataset.name)
    return dataset


def free_slug(name: str) -> str:
    """A short name after the name, with a number where that is taken."""
    base = slugify(name)[:60].strip("-") or f"dataset-{secrets.token_hex(3)}"
    taken = RESERVED | set(Dataset.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    numbered = (f"{base}-{number}" for number in range(2, 1_000_000))
    return next(slug for slug in chain([base], numbered) if slug not in taken)


def _existing(path: Path) -> Path:
    if not path.exists():
        raise Invalid({"path": [_("There is no file or folder %(path)s.") % {"path": path}]})
    return path


def _part_of(heard: process.Heard) -> process.Heard:
    return lambda share: heard(share * READ_SHARE)
