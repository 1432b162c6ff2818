"""The form by which a sample of a scan is sent to reviewers. What may be is checked once, by the verb."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models import Experiment, InstrumentVersion, ReviewQueue
from experiments.models.review import MOST_PEOPLE
from experiments.review import queues
from experiments.review.forms import LAB, MINE, InstructionsField, ReviewersField
from experiments.review.instruments import services
from experiments.review.instruments.sampling import MOST_DRAWN

USUAL_SIZE = 40
USUAL_OVERLAP = 2


class SampleForm(forms.Form):
    """A sample of what a scan has judged. whose: as of a new queue."""

    name = forms.CharField(label=_("Name"), required=False, help_text=_("the instrument's title when empty"))
    whose = forms.ChoiceField(label=_("For"), required=False)
    dimension = forms.ChoiceField(
        label=_("Equally many of each value of"), help_text=_("rare values get as many labels as frequent ones")
    )
    judge = forms.ChoiceField(label=_("By the judge"))
    size = forms.IntegerField(label=_("Units to label"), initial=USUAL_SIZE, min_value=1, max_value=MOST_DRAWN)
    seed = forms.IntegerField(label=_("Seed"), required=False, min_value=0, max_value=2**31 - 1)
    members = ReviewersField()
    overlap = forms.IntegerField(label=_("People per item"), initial=USUAL_OVERLAP, min_value=1, max_value=MOST_PEOPLE)
    instructions = InstructionsField(rows=4)

    def __init__(self, *args: Any, user: User, version: InstrumentVersion, scan: Experiment, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: Any = self.fields
        self.projects = {str(one.pk): one for one in queues.projects_for(user)}
        mine = [(MINE, _("my own runs"))] if user.may_experiment else []
        lab = [(LAB, _("the lab: every reviewer"))] if queues.may_make_for_lab(user) else []
        fields["whose"].choices = [*mine, *lab, *((key, one.name) for key, one in self.projects.items())]
        fields["dimension"].choices = [(one.name, one.title) for one in version.parsed.dimensions]
        fields["judge"].choices = [(name, name) for name in services.judges_of(version, scan)]

    def draw(self, *, by: User, version: InstrumentVersion, scan: Experiment) -> ReviewQueue:
        """The queue that was asked for; raises what `services.draw` raises."""
        given = self.cleaned_data
        return services.draw(
            by=by,
            version=version,
            scan=scan,
            project=self.projects.get(given["whose"]),
            is_lab=given["whose"] == LAB,
            members=[one.username for one in given["members"]],
            seed=given["seed"] or 0,
            **{name: given[name] for name in ("name", "dimension", "judge", "size", "overlap", "instructions")},
        )
