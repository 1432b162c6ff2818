"""Notes on pages: those of a run, one about a message, and changing one's own."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.people import person
from accounts.refusing import ShownIn, status_of
from experiments.library.shelves import noting
from experiments.library.shelves.forms import NoteForm
from experiments.models import Message, Note, Run


@login_required
def run_notes(request: HttpRequest, pk: UUID) -> HttpResponse:
    """All notes on a run that one may read, and the form for another one."""
    run = get_object_or_404(Run.objects.visible_to(request.user).select_related("experiment"), pk=pk)
    return _written(request, run, None)


@login_required
def message_note(request: HttpRequest, pk: UUID) -> HttpResponse:
    rows = Message.objects.filter(run__in=Run.objects.visible_to(request.user))
    message = get_object_or_404(rows.select_related("run__experiment"), pk=pk)
    return _written(request, message.run, message)


@login_required
def note(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = _mine(request, pk)
    form = NoteForm(request.POST or None, initial={"text": shown.text, "shared": shown.shared})
    if request.method == "POST" and form.is_valid():
        with ShownIn(form, "text"):
            noting.revise(shown, by=person(request), **form.cleaned_data)
            return redirect(_place(shown))
    return _form(request, form, shown.run, shown.message, shown)


@login_required
@require_POST
def note_delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = _mine(request, pk)
    noting.remove(shown, by=person(request))
    messages.success(request, _("The note is deleted."))
    return redirect(f"{shown.run.get_absolute_url()}#shelf")


def _written(request: HttpRequest, run: Run, message: Message | None) -> HttpResponse:
    form = NoteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form, "text"):
            return redirect(_place(noting.write(run, by=person(request), message=message, **form.cleaned_data)))
    return _form(request, form, run, message, None)


def _form(request: HttpRequest, form: NoteForm, run: Run, message: Message | None, shown: Note | None) -> HttpResponse:
    notes = [] if shown or message else noting.notes_on(run, request.user)
    context = {"form": form, "run": run, "message": message, "note": shown, "notes": notes}
    return render(request, "shelves/note.html", context, status=status_of(form))


def _place(shown: Note) -> str:
    """Where it stands on the page of its run."""
    return f"{shown.run.get_absolute_url()}#note-{shown.pk}"


def _mine(request: HttpRequest, pk: UUID) -> Note:
    rows = Note.objects.written_by(request.user).select_related("run__experiment", "message")
    return get_object_or_404(rows, pk=pk)
