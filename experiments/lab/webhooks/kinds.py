"""What a webhook can be told of. docs/api.md says what each carries."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Kind(TextChoices):
    RUN_STARTED = "run.started", _("a run has started")
    RUN_WAITING = "run.waiting", _("a run waits for a person")
    RUN_COMPLETED = "run.completed", _("a run is completed")
    RUN_STOPPED = "run.stopped", _("a run was stopped")
    RUN_FAILED = "run.failed", _("a run has failed")
    JUDGMENT_FAILED = "judgment.failed", _("a judge gave no scores")
    BUDGET_REACHED = "budget.reached", _("a budget is used up")
    REVIEW_FINISHED = "review.finished", _("a review queue is finished")
    DATASET_READY = "dataset.ready", _("a dataset is ready")
    DATASET_REFUSED = "dataset.refused", _("a dataset could not be read")
    EXPORT_READY = "export.ready", _("a file of a run is ready")
    EXPORT_FAILED = "export.failed", _("a file of a run could not be made")


TEST = "webhook.test"  # sent by a button, whatever a webhook is told of
PERSONAL = (Kind.DATASET_READY, Kind.DATASET_REFUSED, Kind.EXPORT_READY, Kind.EXPORT_FAILED)  # never of a project
