"""The councils that somebody has asked: found by title and by every question, newest first."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest

from experiments import progress
from experiments.models import Message, Run

RUNS_PER_PAGE = 10


def context(request: HttpRequest) -> dict[str, Any]:
    search = request.GET.get("search", "").strip()
    rows = Run.objects.changeable_by(request.user).filter(experiment__workflow="council").with_totals()
    if search:
        asked = Message.objects.filter(run=OuterRef("pk"), seat="person", raw_text__icontains=search)
        in_config = Q(experiment__config__question__icontains=search)
        rows = rows.filter(Q(experiment__title__icontains=search) | in_config | Q(Exists(asked)))
    shown = rows.select_related("experiment").prefetch_related("experiment__participants__model")
    page = Paginator(shown.order_by("-created", "-id"), RUNS_PER_PAGE).get_page(request.GET.get("page"))
    return {"page": page, "items": [progress.of(run) for run in page.object_list], "search": search}
