"""Taking a dataset away, as long as nothing rests on it."""

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from experiments.datasets.taking import empty
from experiments.models import Battle, Dataset, Experiment, Upload
from experiments.refusals import NotAllowed

if TYPE_CHECKING:
    from accounts.models import User


def what_rests_on(dataset: Dataset) -> str:
    """Why it cannot be deleted, as a sentence; empty when it can."""
    if Battle.objects.filter(board__dataset=dataset).exists():
        return _("There are battles on it: a result must not lose what it is about.")
    if Experiment.objects.filter(config__dataset=dataset.slug, workflow__in=["battles", "outputs"]).exists():
        return _("There are experiments with it: they must not lose what they are about.")
    if dataset.uploads.filter(state=Upload.State.READING).exists():
        return _("It is being read: wait until that is over.")
    return ""


def remove(dataset: Dataset, *, by: "User") -> None:
    """Its owner deletes it with all its samples and outputs. Raises NotAllowed."""
    if dataset.owner_id != by.pk:
        raise NotAllowed(_("Only the owner of a dataset deletes it."))
    if reason := what_rests_on(dataset):
        raise NotAllowed(reason)
    uploads = list(dataset.uploads.all())
    with transaction.atomic():
        empty(dataset)
        dataset.delete()
    for upload in uploads:
        upload.forget_file()
