"""The pages on which an instrument is tried: the preview in its editor, single units, and test cases."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.errors import Invalid
from accounts.people import person
from accounts.refusing import ShownIn, back_to
from experiments.library.instruments import builtin, cases, services
from experiments.library.instruments.forms import InstrumentForm
from experiments.library.instruments.transcripts import JudgeForm, RunForm
from experiments.models import Campaign, Experiment, Instrument, InstrumentCase, InstrumentVersion
from experiments.review.answer_form import uuid_of
from experiments.setup.casting import usual_model
from experiments.workflows.scan.pages import trying


class TryForm(RunForm, JudgeForm):
    """On which run, and who is to judge."""


@login_required
@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """The prompt of one unit as the editor is filled in now."""
    form, given, context = InstrumentForm(request.POST), request.POST, dict[str, Any]()
    if form.is_valid():
        with ShownIn(form):
            definition = services.checked_definition(form.content)
            context["shown"] = trying.shown(definition, person(request), given.get("run", ""), given.get("place", ""))
    context["missing"] = next((said for errors in form.errors.values() for said in errors), "")
    return render(request, "instruments/_preview.html", context)


@login_required
@require_GET
def try_(request: HttpRequest, pk: UUID) -> HttpResponse:
    """One unit with the newest version: the prompt, what asking would cost, and what was said so far."""
    version, reader = _version(request, pk), person(request)
    usual = usual_model("judge")
    model = request.GET.get("model", "") or (usual.slug if usual else "")
    shown = trying.shown(version.parsed, reader, request.GET.get("run", ""), request.GET.get("place", ""))
    context = _context(request, version, shown)
    if shown:
        context["form"] = TryForm(initial={"run": shown.run, "model": model}, reader=reader)
        try:
            config = trying.config_of(version, {str(shown.run.pk): [shown.unit.place]}, again=True)
            context["estimate"] = trying.cost(config, model, by=reader)
        except Invalid as error:
            context["missing"] = str(error)
    return render(request, "instruments/try.html", context)


@login_required
@require_GET
def tried(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What was said of the unit so far, while a judge is asked."""
    version = _version(request, pk)
    shown = trying.shown(version.parsed, person(request), request.GET.get("run", ""), request.GET.get("place", ""))
    return render(request, "instruments/_tried.html", _context(request, version, shown))


@login_required
@require_POST
def ask(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Ask one judge once about one unit."""
    version, reader, given = _version(request, pk), person(request), request.POST
    where = {"run": given.get("run", ""), "place": given.get("place", ""), "model": given.get("model", "")}
    address = reverse("instrument-try", args=[pk])
    back_to(request, f"{address}?{urlencode(where)}")
    shown = trying.shown(version.parsed, reader, where["run"], where["place"])
    if shown is None:
        raise Invalid(run=_("Choose a run."))
    config = trying.config_of(version, {str(shown.run.pk): [shown.unit.place]}, again=True)
    title = _("%(instrument)s: one unit") % {"instrument": builtin.words_of(version.instrument)[0]}
    scan = trying.ask(config, where["model"], by=reader, title=title)
    return redirect(f"{address}?{urlencode({**where, 'scan': str(scan.pk)})}#tried")


@login_required
@require_POST
def case_keep(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What is expected of the unit, for each who is measured in it."""
    version, reader, given = _version(request, pk), person(request), request.POST
    where = {"run": given.get("run", ""), "place": given.get("place", "")}
    back_to(request, f"{reverse('instrument-try', args=[pk])}?{urlencode(where)}")
    shown = trying.shown(version.parsed, reader, where["run"], where["place"])
    if shown is None:
        raise Invalid(run=_("Choose a run."))
    kept = 0
    for subject, form in _expected(version, shown, given):
        if form.is_valid() and form.expected:
            cases.keep(
                version.instrument,
                shown.run,
                by=reader,
                unit=version.parsed.unit,
                place=shown.unit.place,
                subject=subject,
                expected=form.expected,
            )
            kept += 1
    if not kept:
        raise Invalid(expected=_("Say what is expected of at least one dimension."))
    messages.success(request, _("The test case is saved."))
    return redirect(f"{reverse('instrument', args=[pk])}#cases")


@login_required
@require_POST
def case_delete(request: HttpRequest, pk: UUID, case: UUID) -> HttpResponse:
    rows = InstrumentCase.objects.visible_to(request.user)
    cases.delete(get_object_or_404(rows, instrument=pk, pk=case), by=person(request))
    messages.success(request, _("The test case is deleted."))
    return redirect(f"{reverse('instrument', args=[pk])}#cases")


@login_required
@require_POST
def cases_run(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Have the newest version judge all test cases that it has not judged with this judge yet."""
    version, reader = _version(request, pk), person(request)
    back_to(request, f"{reverse('instrument', args=[pk])}#cases")
    return redirect("experiment", trying.ask_cases(version, request.POST.get("model", ""), by=reader).pk)


def _version(request: HttpRequest, pk: UUID) -> InstrumentVersion:
    return get_object_or_404(Instrument.objects.visible_to(request.user), pk=pk).newest


def _context(request: HttpRequest, version: InstrumentVersion, shown: trying.Shown | None) -> dict[str, Any]:
    context = {"instrument": version.instrument, "version": version, "shown": shown}
    if shown is None:
        return context
    campaigns = Campaign.objects.filter(experiment__in=Experiment.objects.visible_to(request.user))
    return {
        **context,
        "scan": campaigns.filter(pk=uuid_of(request.GET.get("scan", ""))).first(),
        "found": trying.said(version, shown, person(request)),
        "expected": _expected(version, shown, None),
        "may_change": Instrument.objects.changeable_by(request.user).filter(pk=version.instrument_id).exists(),
    }


def _expected(version: InstrumentVersion, shown: trying.Shown, given: Any) -> list[tuple[str, cases.ExpectedForm]]:
    """A form for each who is measured, "" for the unit as a whole."""
    definition, subjects = version.parsed, shown.unit.subjects or ("",)
    return [(one, cases.ExpectedForm(given, definition=definition, prefix=one or None)) for one in subjects]
