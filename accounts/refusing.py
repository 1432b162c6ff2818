"""How pages answer a refusal (`accounts.errors`): in the form, back on the page before, or as a page of its own.

A script that asks for JSON gets the sentence with the status. The API has the same ones (`experiments.api.problems`).
"""

from http import HTTPStatus
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.deprecation import MiddlewareMixin

from accounts import logs
from accounts.errors import Invalid, Refusal


class HostCookieStorage(CookieStorage):
    """Messages in a cookie that no other host can set."""

    cookie_name = "__Host-arena_notices" if settings.HTTPS else "arena_notices"


class NoticeStorage(FallbackStorage):
    storage_classes = (HostCookieStorage, SessionStorage)


class RefusingMiddleware(MiddlewareMixin):
    """Answers every refusal that no page has shown in a form of its own."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, Refusal):
            return None
        if wants_json(request):
            return JsonResponse({"problem": str(error)}, status=error.status)
        if (back := getattr(request, "back", "")) and str(error):
            messages.error(request, str(error))
            response = see_other(back)
            response.refused = error.status  # type: ignore[attr-defined]  # for the audit log
            return response
        if isinstance(error, PermissionDenied | Http404):
            return None  # Django has pages for them
        return render(request, error.page, {"reason": str(error)}, status=error.status)


def back_to(request: HttpRequest, page: Any, *args: Any, **kwargs: Any) -> None:
    """What is refused from here on is said in a message on this page, which takes what `redirect` takes."""
    request.back = resolve_url(page, *args, **kwargs)  # type: ignore[attr-defined]  # read by RefusingMiddleware alone


def see_other(page: Any, *args: Any, **kwargs: Any) -> HttpResponse:
    """303: the page to look at after what was sent."""
    response: HttpResponse = redirect(page, *args, **kwargs)
    response.status_code = 303
    return response


def problem_response(status: int, detail: str) -> JsonResponse:
    """A problem document (RFC 9457), for programs that are answered before the API sees their request."""
    problem: dict[str, object] = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status}
    problem["detail"] = detail
    if name := logs.known().get("request"):
        problem["request_id"] = name
    return JsonResponse(problem, status=status, content_type="application/problem+json")


def wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


class ShownIn:
    """`with ShownIn(form):` what is refused within is said in the form, at the field that it is about.

    A form whose fields are not named as the verb names them has `placed(path, sentence)`: the field, or None for the
    whole form, and the sentence as it is said there. field: what anything but Invalid is about.
    """

    def __init__(self, form: forms.BaseForm, field: str | None = None) -> None:
        self._form, self._field = form, field

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Refusal):
            return False
        add_errors(self._form, error, self._field)
        return True


def add_errors(form: Any, error: Refusal, field: str | None = None) -> None:
    errors = error.errors if isinstance(error, Invalid) else {field or "": [str(error)]}
    for path, sentences in errors.items():
        for sentence in sentences:
            if hasattr(form, "placed"):
                form.add_error(*form.placed(path, sentence))
            else:
                form.add_error(path if path in form.fields else None, sentence)
    form.refused = None if isinstance(error, Invalid) else error.status


class RefusingForm:
    """For Django's `FormView` and its like: a form that was refused is shown again, with the status of the refusal."""

    def form_invalid(self: Any, form: Any) -> HttpResponse:
        page: HttpResponse = self.render_to_response(self.get_context_data(form=form), status=status_of(form))
        return page


def status_of(shown: Any) -> int:
    """Of a page that shows this form or refusal: 422 for what was typed wrongly, else the status of the refusal."""
    if isinstance(shown, Refusal):
        return 422 if isinstance(shown, Invalid) else shown.status
    return getattr(shown, "refused", None) or (422 if shown.is_bound and shown.errors else 200)
