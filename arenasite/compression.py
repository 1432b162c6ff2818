"""Pages, styles and scripts are sent compressed to browsers that read it."""

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TYPES = ("text/html", "text/css", "text/javascript", "image/svg+xml")  # neither files of data nor what is streamed


class CompressionMiddleware(GZipMiddleware):
    def process_request(self, request: HttpRequest) -> None:
        """Compression makes an ETag weak, and WhiteNoise compares letter by letter."""
        if request.path.startswith(settings.STATIC_URL) and "If-None-Match" in request.headers:
            request.META["HTTP_IF_NONE_MATCH"] = request.META["HTTP_IF_NONE_MATCH"].removeprefix("W/")

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_whole = response.status_code != 206 and request.method != "HEAD"
        if is_whole and response.get("Content-Type", "").startswith(TYPES):
            return super().process_response(request, response)
        return response
