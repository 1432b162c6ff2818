"""The pages on which a sample of a scan is sent to reviewers, and the card of an instrument's version is read."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from accounts.models import User
from accounts.people import person
from accounts.refusing import ShownIn, status_of
from experiments.models import Experiment, Instrument, InstrumentVersion, ReviewQueue
from experiments.models.review import MOST_PEOPLE
from experiments.review import queues
from experiments.review.forms import InstructionsField, ReviewersField, WhoseRuns
from experiments.review.instruments import card, services
from experiments.review.instruments.sampling import MOST_DRAWN

USUAL_SIZE = 40
USUAL_OVERLAP = 2


class SampleForm(WhoseRuns, forms.Form):
    """A sample of what a scan has judged."""

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
        self.offer_whose(user)
        fields["dimension"].choices = [(one.name, one.title) for one in version.parsed.dimensions]
        fields["judge"].choices = [(name, name) for name in services.judges_of(version, scan)]

    def draw(self, *, by: User, version: InstrumentVersion, scan: Experiment) -> ReviewQueue:
        """The queue that was asked for; raises what `services.draw` raises."""
        given = self.cleaned_data
        return services.draw(
            by=by,
            version=version,
            scan=scan,
            seed=given["seed"] or 0,
            **self.for_whom(),
            **{name: given[name] for name in ("name", "dimension", "judge", "size", "overlap", "instructions")},
        )


@login_required
def sample(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Send a sample of what an experiment has judged with an instrument to reviewers."""
    user = person(request)
    scan = get_object_or_404(Experiment.objects.visible_to(user), pk=pk)
    queues.require_making(user)
    version = services.version_of(scan, user)
    form = SampleForm(request.POST or None, user=user, version=version, scan=scan)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            return redirect(form.draw(by=user, version=version, scan=scan))
    context = {"form": form, "scan": scan, "version": version}
    return render(request, "review/sample_form.html", context, status=status_of(form))


@login_required
@require_GET
def card_page(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The card of an instrument's version: the newest one, or that of the number `version`."""
    instrument = get_object_or_404(Instrument.objects.visible_to(request.user), pk=pk)
    version = services.numbered(instrument, request.GET.get("version", ""))
    found = card.of(version, request.user)
    context = {
        "instrument": instrument,
        "version": version,
        "versions": instrument.versions.order_by("-number").values_list("number", flat=True),
        "card": found,
        "missing": card.missing(found),
        "managed": set(ReviewQueue.objects.manageable_by(request.user).values_list("pk", flat=True)),
        "may_draw": queues.may_make(person(request)),
    }
    return render(request, "review/card.html", context)
