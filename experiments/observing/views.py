"""What Prometheus reads, and the page of what is going on."""

from secrets import compare_digest

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from experiments.observing.exposition import exposition


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """For whoever shows `ARENA_METRICS_TOKEN`, and for administrators. To everybody else there is no such address."""
    if not (_shows_token(request) or (isinstance(request.user, User) and request.user.is_admin)):
        raise Http404
    text, content_type = exposition(request.headers.get("Accept", ""))
    return HttpResponse(text, content_type=content_type)


def _shows_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    wanted = settings.METRICS_TOKEN
    return bool(wanted) and scheme.lower() == "bearer" and compare_digest(token.strip().encode(), wanted.encode())
