"""What every answer tells the browser: keep nothing private, lend nothing to other sites, and use no device."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _

Answer = Callable[[HttpRequest], HttpResponse]
METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
API, HEALTH = "/api/", "/api/health/"
DEVICES = ("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer", "microphone")
OTHERS = ("browsing-topics", "midi", "payment", "serial", "usb", "xr-spatial-tracking")
PERMISSIONS = ", ".join(f"{name}=()" for name in sorted((*DEVICES, *OTHERS)))
FORGET = '"cache", "storage"'  # cookies stay: they hold the language and the theme, and the session's is deleted anyway


class ShieldMiddleware:
    """Stands before the static files, so that theirs are shielded as well."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = _never_answered(request) or _unencrypted(request) or self._get_response(request)
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.setdefault("Permissions-Policy", PERMISSIONS)
        if _is_private(request):
            response.setdefault("Cache-Control", "no-store, private")
        if _has_signed_out(request, response):
            response["Clear-Site-Data"] = FORGET
        return response


def _never_answered(request: HttpRequest) -> HttpResponse | None:
    return HttpResponse(status=405, headers={"Allow": METHODS}) if request.method in {"TRACE", "CONNECT"} else None


def _unencrypted(request: HttpRequest) -> HttpResponse | None:
    """A program that sends its token without encryption is told so. Were it led on to https, nobody would notice."""
    is_api = request.path.startswith(API) and request.path != HEALTH
    if request.is_secure() or not (settings.SECURE_SSL_REDIRECT and is_api):
        return None
    detail = _("The API is asked over https alone. A token that was sent just now is no secret any more: revoke it.")
    problem = {"type": "about:blank", "title": "Forbidden", "status": 403, "detail": detail}
    return JsonResponse(problem, status=403, content_type="application/problem+json")


def _is_private(request: HttpRequest) -> bool:
    """Whether somebody known was answered. Whoever it is has been found out by now, or nobody asked."""
    user = getattr(request, "user", None)
    return user is not None and bool(user.is_authenticated)


def _has_signed_out(request: HttpRequest, response: HttpResponse) -> bool:
    """The cookie of the session is deleted by this answer."""
    cookie = response.cookies.get(settings.SESSION_COOKIE_NAME)
    return cookie is not None and not cookie.value
