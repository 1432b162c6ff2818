"""What is answered when there is no page, or a page failed: a problem document to programs, a page to people."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from experiments import logs


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, 404, "Not Found", "There is nothing here, or nothing that you may see.", "404.html")


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Whoever tries passwords without end is slowed down (django-allauth asks for this page)."""
    return answer(request, 429, "Too Many Requests", "You have tried too often. Try again in a minute.", "429.html")


def server_error(request: HttpRequest) -> HttpResponse:
    return answer(request, 500, "Internal Server Error", "The server failed.", "500.html")


def answer(request: HttpRequest, status: int, title: str, detail: str, template: str) -> HttpResponse:
    """A problem document to programs, a page to people."""
    name = logs.known().get("request", "")
    if request.path.startswith("/api/"):
        problem: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail}
        if name:
            problem["request_id"] = name
        return JsonResponse(problem, status=status, content_type="application/problem+json")
    return render(request, template, {"detail": detail, "request_id": name}, status=status)
