"""The pages of rubrics: those there are, one of them, and a new version of one's own."""

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
from experiments.review.answer_form import NOWHERE, uuid_of
from experiments.review.forms import RubricForm


@login_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    rows = ReviewRubric.objects.visible_to(request.user).newest().select_related("owner")
    return render(request, "review/rubrics.html", {"rubrics": list(rows[:200])})


@login_required
@require_GET
def rubric(request: HttpRequest, pk: UUID) -> HttpResponse:
    visible = ReviewRubric.objects.visible_to(request.user)
    shown = get_object_or_404(visible.select_related("owner"), pk=pk)
    versions = visible.filter(family=shown.family).order_by("-version")
    is_mine = shown.owner_id is not None and shown.owner_id == request.user.pk
    context = {"row": shown, "rubric": rubrics.of(shown), "versions": versions, "is_mine": is_mine}
    return render(request, "review/rubric.html", context)


@login_required
def rubric_new(request: HttpRequest) -> HttpResponse:
    """A rubric from nothing, or from one that the person sees (`?from=`)."""
    source = None
    if asked := request.GET.get("from", ""):
        source = get_object_or_404(ReviewRubric.objects.visible_to(request.user), pk=uuid_of(asked) or NOWHERE)
    form = RubricForm(request.POST or None, source=source)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            saved = rubrics.save(owner=person(request), content=form.content, **form.cleaned_data)
            messages.success(request, _("The rubric is saved."))
            return redirect(saved)
    return _form_page(request, form, None)


@login_required
def rubric_edit(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A new version: queues keep the one that they were made with."""
    shown = get_object_or_404(ReviewRubric, pk=pk, owner_id=request.user.pk)
    form = RubricForm(request.POST or None, source=shown)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            saved = rubrics.revise(shown, by=person(request), content=form.content, **form.cleaned_data)
            messages.success(request, _("Version %(version)s is saved.") % {"version": saved.version})
            return redirect(saved)
    return _form_page(request, form, shown)


def _form_page(request: HttpRequest, form: RubricForm, edited: ReviewRubric | None) -> HttpResponse:
    levels = ("ordinal", "interval", "nominal")
    context = {"form": form, "edited": edited, "scales": form.scales, "labels": form.labels, "levels": levels}
    return render(request, "review/rubric_form.html", context, status=status_of(form))
