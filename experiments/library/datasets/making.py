"""What is done with datasets: made of a file here or of one that was sent, given further outputs, shown, deleted."""

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
from experiments.library.datasets import process, reading, uploads
from experiments.library.datasets.reader.tree import is_version
from experiments.library.datasets.writing import READ_SHARE, Added, empty, take_outputs, take_samples
from experiments.models import Battle, Dataset, Experiment, LogImport, Upload
from experiments.tasks import clock
from experiments.workflows.shards import SHARDED

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

    from accounts.models import User

Columns = Mapping[str, Any]
RESERVED = {"new"}  # an address of its own
CURATING = ("curator", "admin")


def may_curate(person: Any, dataset: Dataset) -> bool:
    """Whether a person may add outputs and leave contestants out: its owner, curators and admins."""
    return bool(person.is_active and (dataset.owner_id == person.pk or person.role in CURATING))


def require_maker(person: "User") -> None:
    """Raises Forbidden for those whose role allows no datasets."""
    if not person.may_experiment:
        raise Forbidden(_("Your role can view datasets but not create them. Ask an administrator."))


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

    columns: which column is read as what, {"instruction": "prompt", "outputs": {"a contestant": "its column"}, …}; a
    column that is left out is recognized by its name. Raises Forbidden, Invalid, and Refused for what cannot be read.
    """
    require_maker(owner)
    fields = {"modality": modality, "visibility": visibility, "description": description, "takes_votes": takes_votes}
    fresh = _checked(Dataset(owner=owner, name=name.strip(), slug=slug, **fields), chosen_slug=slug)
    orders = {"columns": checked_columns(columns), "subset": subset.strip()}
    if path is not None:
        return _load(fresh, path, orders, heard)
    kept = upload if isinstance(upload, Upload) else uploads.keep(upload, owner=owner, kind=Upload.Kind.SAMPLES)
    fresh.source = kept.name
    with transaction.atomic():
        _save(fresh)
        asked = {"asked": orders, "dataset": fresh, "state": Upload.State.WAITING}
        if not Upload.objects.filter(pk=kept.pk, state=Upload.State.KEPT).update(**asked):
            raise Invalid(file=_("This file is already being read."))
        reading.wake()
    return fresh


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
    version = orders.pop("version")
    with process.spool_in(Path(settings.UPLOADS_DIR)) as spool:
        found = _read(path, spool, "outputs", orders, heard)
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
        reading.wake()
    return upload


def publish(dataset: Dataset, *, by: "User", visibility: str) -> None:
    """Who may see it from now on: its owner decides."""
    if dataset.owner_id != by.pk:
        raise Forbidden(_("Only the dataset's owner can change its visibility."))
    if visibility not in Dataset.Visibility.values:
        raise Invalid(visibility=_("Choose only me, the lab or everybody."))
    before, dataset.visibility = dataset.visibility, visibility
    with transaction.atomic():
        dataset.save(update_fields=["visibility"])
        audit.record(audit.Action.SHARED, by=by, of=dataset, before=before, after=visibility)


def what_rests_on(dataset: Dataset) -> str:
    """Why it cannot be deleted, as a sentence; empty when it can."""
    if Battle.objects.filter(board__dataset=dataset).exists():
        return _("There are battles on it, so it cannot be deleted.")
    if Experiment.objects.filter(config__dataset=dataset.slug, workflow__in=SHARDED).exists():
        return _("There are experiments with it, so it cannot be deleted.")
    if _is_read(dataset):
        return _("It is being read. Wait until that has ended.")
    return ""


def remove(dataset: Dataset, *, by: "User") -> None:
    """Its owner deletes it with all its samples and outputs. Raises Forbidden."""
    if dataset.owner_id != by.pk:
        raise Forbidden(_("Only the dataset's owner can delete it."))
    if reason := what_rests_on(dataset):
        raise Forbidden(reason)
    files = [*dataset.uploads.all(), *dataset.log_imports.all()]
    with transaction.atomic():
        dataset.uploads.exclude(state=Upload.State.READING).delete()  # from here on no worker begins
        if _is_read(dataset):
            raise Forbidden(_("It is being read. Wait until that has ended."))
        told = {"state": Dataset.State.REFUSED, "refused_reason": _("It is being deleted."), "beat": None}
        Dataset.objects.filter(pk=dataset.pk).update(**told)
    empty(dataset, lambda: None)  # a large one takes long: others write meanwhile, and nobody but its owner sees it
    dataset.delete()
    for file in files:
        file.forget_file()


def _is_read(dataset: Dataset) -> bool:
    unread = [LogImport.State.WAITING, LogImport.State.READING]
    is_read = dataset.uploads.filter(state=Upload.State.READING).exists()
    return is_read or dataset.log_imports.filter(state__in=unread).exists()


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
        raise Invalid(columns=_("Name a column for each part, and under “outputs” one for each contestant."))
    return dict(columns)


def _output_orders(
    dataset: Dataset, by: "User", contestant: str, version: str, columns: Columns | None
) -> dict[str, Any]:
    """What the reader is told. Raises Forbidden and Invalid."""
    if not may_curate(by, dataset):
        raise Forbidden(_("Only the dataset's owner, curators and administrators can add outputs to it."))
    if not dataset.is_ready:
        raise Invalid(file=_("The dataset is still being read. Wait until it is ready."))
    if version and not is_version(version):
        raise Invalid(version=_("A version is a name, an underscore and a date: solar_20260131."))
    if len(contestant) > 200:
        raise Invalid(contestant=_("A name can have up to 200 characters."))
    subsets = list(dataset.samples.order_by().values_list("subset", flat=True).distinct()[:1000])
    named = {"contestant": contestant.strip(), "subsets": [name for name in subsets if name]}
    return {**named, "version": version, "columns": checked_columns(columns)}


def _load(dataset: Dataset, path: Path, orders: dict[str, Any], heard: process.Heard) -> Dataset:
    with process.spool_in(Path(settings.UPLOADS_DIR)) as spool:
        found = _read(path, spool, "samples", orders, heard)
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
    dataset.state, dataset.progress = Dataset.State.READY, 1
    with transaction.atomic():
        dataset.save(update_fields=["state", "progress", "columns", "warnings"])
        outbox.of_dataset(dataset, Kind.DATASET_READY)
    return dataset


def _read(path: Path, spool: Path, what: str, orders: dict[str, Any], heard: process.Heard) -> process.Found:
    if not path.exists():
        raise Invalid(path=_("There is no file or folder %(path)s.") % {"path": path})
    return process.read(path, spool, what=what, heard=lambda share: heard(share * READ_SHARE), **orders)


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
        errors["name"] = [_("Enter a name of up to 200 characters.")]
    if dataset.modality not in Dataset.Modality.values:
        errors["modality"] = [_("Choose text or image.")]
    if dataset.visibility not in Dataset.Visibility.values:
        errors["visibility"] = [_("Choose only me, the lab or everybody.")]
    if chosen_slug and (slugify(chosen_slug) != chosen_slug or len(chosen_slug) > 80):
        errors["slug"] = [_("A short name has lower-case letters, digits and dashes, up to 80 characters.")]
    elif chosen_slug in RESERVED or (chosen_slug and Dataset.objects.filter(slug=chosen_slug).exists()):
        errors["slug"] = [_("There is a dataset with this short name.")]
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
