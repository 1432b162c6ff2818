"""The page of a scan: how far it is, rates and means with intervals, and findings with their quotations."""

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from accounts.people import for_readers
from experiments.lab.budgets import views as budget_views
from experiments.library.instruments import builtin, findings
from experiments.library.instruments.figures import figures
from experiments.models import Experiment, InstrumentVersion
from experiments.workflows.battles.pages.views import progress_of
from experiments.workflows.scan import WORKFLOW
from experiments.workflows.scan.pages import results

PER_PAGE = 25


def scan_page(request: HttpRequest, shown: Experiment) -> HttpResponse:
    version = InstrumentVersion.objects.select_related("instrument").get(pk=shown.config["version"])
    is_known = InstrumentVersion.objects.visible_to(request.user).filter(pk=version.pk).exists()
    participants = list(shown.participants.select_related("model__provider"))
    context = {
        **_live(shown, request),
        "participants": participants,
        "is_simulated": any(one.model.provider.is_simulated for one in participants),
        "version": version if is_known else None,
        "number": version.number,
        "instrument": builtin.words_of(version.instrument)[0] if is_known else shown.config["title"],
        "config": shown.config,
        **budget_views.of_experiment(shown, request),
    }
    return render(request, "workflows/scan/scan.html", context)


@for_readers
@require_GET
def live(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The parts of the page that change while it runs."""
    rows = Experiment.objects.visible_to(request.user).filter(workflow=WORKFLOW.slug)
    return render(request, "workflows/scan/_live.html", _live(get_object_or_404(rows, pk=pk), request))


def _live(shown: Experiment, request: HttpRequest) -> dict[str, Any]:
    found = progress_of(shown, request)
    if "progress" not in found:
        return found
    definition = shown.parsed_config().definition
    rows = results.annotations(shown, request.user)
    chosen = {name: request.GET.get(name, "") for name in ("dimension", "show", "value")}
    dimension = definition.by_name.get(chosen["dimension"])
    page = Paginator(results.findings(rows, dimension, chosen["show"], chosen["value"]), PER_PAGE)
    shown_page = page.get_page(request.GET.get("page"))
    return found | {
        "definition": definition,
        "figures": figures(definition, rows),
        "chosen": chosen,
        "shows": results.SHOWS,
        "values": [(name, words) for name, (_value, words) in results.values_of(dimension).items()],
        "page": shown_page,
        "found": list(findings.of(shown_page)),
    }
