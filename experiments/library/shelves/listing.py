"""What the list of runs shows of tags and saved views."""

from collections.abc import Sequence

from django.http import HttpRequest

from experiments.library.shelves import tagging, viewing
from experiments.models import Run, SavedView
from experiments.runs.sharing.sharing import projects_of


def context(request: HttpRequest, runs: Sequence[Run]) -> dict[str, object]:
    """runs: those of the page that is shown."""
    query = viewing.normal(request.GET.urlencode())
    views = list(SavedView.objects.visible_to(request.user).select_related("owner", "project").distinct())
    return {
        "words": tagging.words_of(runs),
        "vocabulary": tagging.vocabulary(request.user),
        "views": views,
        "current_view": next((one for one in views if one.query == query), None),
        "query": query,
        "own_projects": projects_of(request.user),
    }


def default_view(request: HttpRequest) -> SavedView | None:
    """The view to be shown where nothing was asked for."""
    if request.GET:
        return None
    return SavedView.objects.filter(owner_id=request.user.pk, is_default=True).exclude(query="").first()
