"""Taking a dataset away, as long as nothing rests on it."""

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.errors import Forbidden
from experiments.library.datasets.taking import empty
from experiments.models import Battle, Dataset, Experiment, LogImport, Upload
from experiments.workflows.shards import SHARDED

if TYPE_CHECKING:
    from accounts.models import User


def what_rests_on(dataset: Dataset) -> str:
    """Why it cannot be deleted, as a sentence; empty when it can."""
    if Battle.objects.filter(board__dataset=dataset).exists():
        return _("There are battles on it: a result must not lose what it is about.")
    if Experiment.objects.filter(config__dataset=dataset.slug, workflow__in=SHARDED).exists():
        return _("There are experiments with it: they must not lose what they are about.")
    if _is_read(dataset):
        return _("It is being read: wait until that is over.")
    return ""


def remove(dataset: Dataset, *, by: "User") -> None:
    """Its owner deletes it with all its samples and outputs. Raises Forbidden."""
    if dataset.owner_id != by.pk:
        raise Forbidden(_("Only the owner of a dataset deletes it."))
    if reason := what_rests_on(dataset):
        raise Forbidden(reason)
    files = [*dataset.uploads.all(), *dataset.log_imports.all()]
    with transaction.atomic():
        dataset.uploads.exclude(state=Upload.State.READING).delete()  # from here on no worker begins
        if _is_read(dataset):
            raise Forbidden(_("It is being read: wait until that is over."))
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
