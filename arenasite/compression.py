"""Pages, styles and scripts are sent compressed to browsers that read it."""

from collections.abc import Callable

from django.conf import settings
from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers
from django.utils.text import compress_string

TYPES = ("text/html", "text/css", "text/javascript", "image/svg+xml")  # neither files of data nor what is streamed


class CompressionMiddleware(GZipMiddleware):
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(get_response)
        self._files: dict[tuple[str, str], bytes] = {}  # compressed, by address and ETag

    def process_request(self, request: HttpRequest) -> None:
        """Compression makes an ETag weak, and WhiteNoise compares letter by letter."""
        if request.path.startswith(settings.STATIC_URL) and "If-None-Match" in request.headers:
            request.META["HTTP_IF_NONE_MATCH"] = request.META["HTTP_IF_NONE_MATCH"].removeprefix("W/")

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_whole = response.status_code != 206 and request.method != "HEAD"
        if not is_whole or not response.get("Content-Type", "").startswith(TYPES):
            return response
        is_file = response.status_code == 200 and request.path.startswith(settings.STATIC_URL)
        if is_file and isinstance(response, FileResponse) and "gzip" in request.headers.get("Accept-Encoding", ""):
            return self._compressed(request.path, response)
        return super().process_response(request, response)

    def _compressed(self, path: str, response: FileResponse) -> FileResponse:
        """A static file, which is compressed once by each process and sent in one piece."""
        key = path, response["ETag"]
        if key not in self._files:
            self._files[key] = compress_string(b"".join(response))
        response.streaming_content = [self._files[key]]
        response["Content-Length"] = str(len(self._files[key]))
        response["Content-Encoding"] = "gzip"
        response["ETag"] = f"W/{response['ETag']}"
        patch_vary_headers(response, ("Accept-Encoding",))
        return response
