"""What the API adds to its answers: how many requests are left, and the word by which an unchanged one is not sent."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_vary_headers, set_response_etag

Answer = Callable[[HttpRequest], HttpResponse]
API = "/api/"
TOKENS = {"Authorization", "X-Api-Key"}  # the headers that they come in


class ApiAnswerMiddleware:
    """ETags of what was read, 304 for who has it already, and `X-RateLimit-…`."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        if not request.path.startswith(API):
            return response
        if request.method == "GET" and response.status_code == 200 and not response.streaming:
            response = self._known(request, response)
        if rate := getattr(request, "rate", None):
            for name, value in rate.items():
                response[f"X-RateLimit-{name.title()}"] = str(value)
        return response

    def _known(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Kept by the program that asked, and asked for again each time: what one may see can change at any moment.
        What a browser asks for on behalf of its person is not kept (ShieldMiddleware says so).
        """
        if not response.has_header("ETag"):
            set_response_etag(response)
        is_browsers = request.user.is_authenticated and not TOKENS & request.headers.keys()
        if not (response.has_header("Cache-Control") or is_browsers):
            response["Cache-Control"] = "private, no-cache"
        patch_vary_headers(response, ["Authorization", "Cookie", "Accept-Language"])
        found = get_conditional_response(request, etag=response["ETag"], response=response)
        assert isinstance(found, HttpResponse)  # noqa: S101 - for mypy: it is the response, or what stands for it
        return found
