"""The pages of rubrics: those there are, one of them, and a new version of one's own."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.people import person
from accounts.refusing import ShownIn, status_of
from experiments.models import ReviewRubric
from experiments.review import rubrics
from experiments.review.forms import LABEL_ROWS, SCALE_ROWS, RubricForm, rows_of

SCALE_PARTS = ("name", "title", "low", "high", "step", "level", "anchors", "measure")
LABEL_PARTS = ("name", "title", "multiple", "choices")


@login_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    rubrics.ensure_builtin()
    rows = ReviewRubric.objects.visible_to(request.user).newest().select_related("owner")
    return render(request, "review/rubrics.html", {"rubrics": list(rows[:200])})


@login_required
@require_GET
def rubric(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = _visible(request, pk)
    versions = ReviewRubric.objects.visible_to(request.user).filter(family=shown.family).order_by("-version")
    context = {"row": shown, "rubric": rubrics.of(shown), "versions": versions, "is_mine": _is_mine(request, shown)}
    return render(request, "review/rubric.html", context)


@login_required
def rubric_new(request: HttpRequest) -> HttpResponse:
    """A rubric from nothing, or from one that the person sees (`?from=`)."""
    asked = request.GET.get("from", "")
    source = _visible(request, _uuid(asked)) if asked else None
    form = RubricForm(request.POST or None, initial=_initial(source))
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            saved = rubrics.save(owner=person(request), content=form.content, **form.cleaned_data)
            messages.success(request, _("The rubric is saved."))
            return redirect(saved)
    return _form_page(request, form, source, None)


@login_required
def rubric_edit(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A new version: queues keep the one that they were made with."""
    shown = get_object_or_404(ReviewRubric, pk=pk, owner_id=request.user.pk)
    form = RubricForm(request.POST or None, initial=_initial(shown))
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            saved = rubrics.revise(shown, by=person(request), content=form.content, **form.cleaned_data)
            messages.success(request, _("Version %(version)s is saved.") % {"version": saved.version})
            return redirect(saved)
    return _form_page(request, form, shown, shown)


def _form_page(
    request: HttpRequest, form: RubricForm, source: ReviewRubric | None, edited: ReviewRubric | None
) -> HttpResponse:
    values: Any = request.POST if request.method == "POST" else rows_of(source)
    context = {
        "form": form,
        "edited": edited,
        "scales": [_row(values, f"scale-{number}", SCALE_PARTS) for number in range(SCALE_ROWS)],
        "labels": [_row(values, f"label-{number}", LABEL_PARTS) for number in range(LABEL_ROWS)],
        "levels": ("ordinal", "interval", "nominal"),
    }
    return render(request, "review/rubric_form.html", context, status=status_of(form))


def _row(values: Any, prefix: str, parts: tuple[str, ...]) -> dict[str, Any]:
    return {"prefix": prefix, **{part: values.get(f"{prefix}-{part}", "") for part in parts}}


def _initial(source: ReviewRubric | None) -> dict[str, Any]:
    if source is None:
        return {}
    words = {"title": rubrics.title_of(source), "description": rubrics.description_of(source)}
    return {**words, "shared": source.shared and source.owner_id is not None}


def _visible(request: HttpRequest, pk: UUID) -> ReviewRubric:
    return get_object_or_404(ReviewRubric.objects.visible_to(request.user).select_related("owner"), pk=pk)


def _is_mine(request: HttpRequest, row: ReviewRubric) -> bool:
    return row.owner_id == request.user.pk and row.owner_id is not None


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return UUID(int=0)
