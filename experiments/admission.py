"""Who may experiment, and whether an experiment can be played now."""

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from experiments.models import Experiment, ProviderModel
from experiments.refusals import NotAllowed
from experiments.sandboxing import hosts

if TYPE_CHECKING:
    from accounts.models import User

EXECUTING = ("coding",)  # workflows that need the sandbox


def require_role(person: "User") -> None:
    if not person.may_experiment:
        raise NotAllowed(_("Your role does not allow experiments: ask an administrator for the role of researcher."))


def require_sandbox(experiment: Experiment) -> None:
    """Where nothing can keep code apart, none is run: it is said before anything is paid for."""
    if experiment.workflow in EXECUTING and (refusal := hosts.refusal()):
        raise NotAllowed(_("No code can be run here, so that nothing was started. %(why)s") % {"why": refusal})


def require_models(experiment: Experiment) -> None:
    """Imported and demonstrated experiments name models that nobody can ask; others may have been switched off."""
    asked = {
        participant.model_id: participant.model.label for participant in experiment.participants.select_related("model")
    }
    available = set(ProviderModel.objects.available().filter(pk__in=asked).values_list("pk", flat=True))
    if missing := [label for pk, label in asked.items() if pk not in available]:
        message = _("These models cannot be asked now: %(models)s. Set the experiment up anew with others.")
        raise NotAllowed(message % {"models": ", ".join(missing)})
