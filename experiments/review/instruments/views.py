"""The pages on which a sample of a scan is sent to reviewers, and the card of an instrument's version is read."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.errors import Forbidden
from accounts.people import person
from accounts.refusing import ShownIn, status_of
from experiments.models import Experiment, Instrument, ReviewQueue
from experiments.review import queues
from experiments.review.instruments import card, services
from experiments.review.instruments.forms import SampleForm


@login_required
def sample(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Send a sample of what an experiment has judged with an instrument to reviewers."""
    user = person(request)
    scan = get_object_or_404(Experiment.objects.visible_to(user), pk=pk)
    if not queues.may_make(user):
        raise Forbidden(_("Queues can be made by curators, project leads, and people with runs."))
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
