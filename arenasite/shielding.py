"""What every answer tells the browser: keep nothing private, lend nothing to other sites, and use no device."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from accounts.refusing import problem_response

METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
API, HEALTH = "/api/", "/api/health/"
DEVICES = ("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer", "microphone")
OTHERS = ("browsing-topics", "midi", "payment", "serial", "usb", "xr-spatial-tracking")
PERMISSIONS = ", ".join(f"{name}=()" for name in sorted((*DEVICES, *OTHERS)))
FORGET = '"cache", "storage"'  # cookies stay: they hold the language and the theme, and the session's is deleted anyway


class ShieldMiddleware(MiddlewareMixin):
    """Stands before the static files, so that theirs are shielded as well."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """A program that sends its token without encryption is told so: led on to https, it would go on like that."""
        if request.method in {"TRACE", "CONNECT"}:
            return HttpResponse(status=405, headers={"Allow": METHODS})
        is_api = request.path.startswith(API) and request.path != HEALTH
        if is_api and settings.SECURE_SSL_REDIRECT and not request.is_secure():
            detail = _("The API accepts HTTPS only. The token that was just sent is no longer secret: revoke it.")
            return problem_response(403, detail)
        return None

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.setdefault("Permissions-Policy", PERMISSIONS)
        user = getattr(request, "user", None)  # who asks has been found out by now, or it did not matter
        if user is not None and user.is_authenticated:
            response.setdefault("Cache-Control", "no-store, private")
        cookie = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if cookie is not None and not cookie.value:  # signed out
            response["Clear-Site-Data"] = FORGET
        return response
