"""A board's chart elsewhere: as a picture for those who see the board, and inside other sites where it is published."""

from collections.abc import Callable

from csp.decorators import csp_replace
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_GET
from django.views.generic import View

from leaderboard.boards import compute, tables
from leaderboard.boards.caching import conditional_response
from leaderboard.boards.listing import head_of, ladder_of
from leaderboard.boards.periods import slice_words
from leaderboard.boards.standings import Standings
from leaderboard.pages import charts, pictures

ANYWHERE = ("Cross-Origin-Resource-Policy", "cross-origin")
FORMATS: dict[str, tuple[str, Callable[[pictures.Picture], str | bytes]]] = {
    "svg": ("image/svg+xml", pictures.as_svg),
    "png": ("image/png", pictures.as_png),
}


@require_GET
def ladder_picture(request: HttpRequest, slug: str, format: str) -> HttpResponse:
    """The chart, of the slice in the address; `theme` is light or dark."""
    found, chosen = ladder_of(request.user, slug), tables.read_choice(request.GET)
    if format not in FORMATS or found.withdrawn_reason:
        raise Http404
    kind, write = FORMATS[format]

    def respond() -> HttpResponse:
        current = compute.current(found, chosen.of, bootstrapped=chosen.bootstrapped)
        head = head_of(found)
        slices = [slice_words(word, name) for name, word in chosen.of.chosen.items()]
        drawn = pictures.picture(
            charts.intervals(current.standings.rows),
            title=found.board.dataset.name if found.board else head["title"],
            subtitle=" · ".join(filter(None, [capfirst(head["judge"]), str(head["question"]), *slices])),
            foot=f"{counted(current.standings)} · {current.computed:%Y-%m-%d} · {request.get_host()}",
            theme=request.GET.get("theme", ""),
        )
        return HttpResponse(write(drawn), content_type=kind)

    response = conditional_response(request, repr((chosen.of, compute.state_of(found))), respond)
    if found.is_published:
        response.headers.setdefault(*ANYWHERE)
    return response


def counted(found: Standings) -> str:
    """What the intervals rest on."""
    return _("%(n)s battles, 95 %% intervals") % {"n": f"{found.battles:,}"}


@method_decorator([xframe_options_exempt, csp_replace({"frame-ancestors": ["*"]})], name="dispatch")
class EmbedView(View):
    """The chart of a published board, to be framed by any site. Who is signed in here makes no difference."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        found = ladder_of(AnonymousUser(), slug)
        if found.withdrawn_reason:
            raise Http404
        chosen, theme = tables.read_choice(request.GET), request.GET.get("theme", "")

        def respond() -> HttpResponse:
            current = compute.current(found, chosen.of)
            context = {
                **head_of(found),
                "current": current,
                "standings": current.standings,
                "chart": charts.intervals(current.standings.rows),
                "frame_theme": theme if theme in pictures.THEMES else "auto",
            }
            return render(request, "leaderboard/embed.html", context)

        response = conditional_response(request, repr((chosen.of, compute.state_of(found))), respond)
        response.headers.setdefault(*ANYWHERE)
        return response
