"""The pages of instruments: those there are, one of them, its editor, and its way to a file and back."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from accounts.attachments import to_be_saved
from accounts.errors import Invalid
from accounts.people import person
from accounts.refusing import ShownIn, back_to, status_of
from experiments.library.instruments import cases, pages, services
from experiments.library.instruments.builtin import file_of, words_of
from experiments.library.instruments.forms import FileForm, InstrumentForm
from experiments.library.instruments.transcripts import JudgeForm, RunForm, spoken
from experiments.models import Instrument, InstrumentCase, InstrumentVersion
from experiments.setup.casting import usual_model
from experiments.workflows.base.instruments import PLACEHOLDERS

SCANS_SHOWN = 20
PLACEHOLDER_WORDS = {
    "what": gettext_lazy("what is judged, in words"),
    "material": gettext_lazy("the transcript, as far as the judge sees it"),
    "dimensions": gettext_lazy("what is measured, from the rows above"),
    "form": gettext_lazy("the form of the answer, as JSON"),
}


@login_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """The built-in ones, one's own, and those of projects and of the lab; archived ones where they are asked for."""
    archived = request.GET.get("archived") == "1"
    context = {"groups": pages.listed(person(request), archived=archived), "archived": archived, "file": FileForm()}
    return render(request, "instruments/index.html", context)


@login_required
@require_GET
def instrument(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What one version asks, the other versions, and what was made with them; `?version=` for an earlier one."""
    shown = _visible(request, pk)
    versions = list(shown.versions.select_related("by"))
    asked = request.GET.get("version", "")
    version = next((one for one in versions if str(one.number) == asked), versions[0])
    rows = InstrumentCase.objects.visible_to(request.user).filter(instrument=shown).select_related("run__experiment")
    usual = usual_model("judge")
    context = {
        "instrument": shown,
        "version": version,
        "newest": versions[0],
        "versions": versions,
        "definition": version.parsed,
        "scans": pages.scans_of(shown, person(request))[:SCANS_SHOWN],
        "cases": cases.checked(rows, version, person(request)),
        "judge": JudgeForm(initial={"model": usual.slug if usual else ""}),
        "may_change": Instrument.objects.changeable_by(request.user).filter(pk=shown.pk).exists(),
    }
    return render(request, "instruments/instrument.html", context)


@login_required
@require_GET
def changes(request: HttpRequest, pk: UUID, before: int, after: int) -> HttpResponse:
    """What differs between two versions."""
    shown = _visible(request, pk)
    pair = sorted((before, after))
    old, new = (get_object_or_404(shown.versions, number=number) for number in pair)
    return render(request, "instruments/changes.html", {"instrument": shown, "before": old, "after": new})


@login_required
def instrument_new(request: HttpRequest) -> HttpResponse:
    """An instrument from nothing, or from a version that the person sees (`?from=`)."""
    source = _source(request)
    form = InstrumentForm(request.POST or None, initial=pages.initial(source))
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            project = request.POST.get("project", "")
            words = {name: form.cleaned_data[name] for name in ("title", "description", "shared")}
            saved = services.save(owner=person(request), definition=form.content, project=project, **words)
            messages.success(request, _("The instrument is saved."))
            return redirect("instrument", saved.instrument_id)
    return _form_page(request, form, None)


@login_required
def instrument_edit(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A new version: scans and scores keep the one that they were made with."""
    shown = get_object_or_404(Instrument.objects.changeable_by(request.user), pk=pk)
    opened = request.POST.get("opened", "")
    base = shown.versions.filter(number=int(opened)).first() if opened.isdecimal() and len(opened) < 10 else None
    base = base or shown.newest
    form = InstrumentForm(request.POST or None, initial={**pages.initial(base), "shared": shown.shared})
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            words = {name: form.cleaned_data[name] for name in ("title", "description", "shared")}
            saved = services.revise(base, by=person(request), definition=form.content, **words)
            messages.success(request, _("Version %(version)s is saved.") % {"version": saved.number})
            return redirect("instrument", shown.pk)
    return _form_page(request, form, base)


@login_required
@require_POST
def instrument_archive(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown, archived = _visible(request, pk), request.POST.get("archived") == "1"
    back_to(request, "instrument", pk)
    services.archive(shown, by=person(request), is_archived=archived)
    messages.success(request, _("The instrument is archived.") if archived else _("The instrument is restored."))
    return redirect("instrument", pk)


@login_required
@require_GET
def instrument_file(request: HttpRequest, pk: UUID, number: int) -> HttpResponse:
    """One version as a file that this and another platform can import."""
    shown = _visible(request, pk)
    version = get_object_or_404(shown.versions, number=number)
    response = HttpResponse(file_of(version))
    return to_be_saved(response, "application/json", f"{slugify(words_of(shown)[0]) or 'instrument'}-v{number}.json")


@login_required
@require_POST
def instrument_import(request: HttpRequest) -> HttpResponse:
    """An instrument of one's own, from a file."""
    back_to(request, "instruments")
    form = FileForm(request.POST, request.FILES)
    if not form.is_valid():
        raise Invalid(file=_("Choose a file."))
    try:
        text = form.cleaned_data["file"].read(services.LONGEST_FILE + 1).decode()
    except UnicodeDecodeError as error:
        raise Invalid(file=_("This is not an instrument that was exported as a file.")) from error
    one = services.read_file(text)
    saved = services.save(
        owner=person(request), title=one.title, description=one.description, definition=one.definition
    )
    messages.success(request, _("The instrument is imported. It is yours."))
    return redirect("instrument", saved.instrument_id)


def _form_page(request: HttpRequest, form: InstrumentForm, base: InstrumentVersion | None) -> HttpResponse:
    context = {
        "form": form,
        "on": RunForm(initial={"run": spoken(person(request)).first()}, reader=person(request)),
        "base": base,
        "edited": base.instrument if base else None,
        "placeholders": [(name, PLACEHOLDER_WORDS[name]) for name in sorted(PLACEHOLDERS)],
    }
    return render(request, "instruments/form.html", context, status=status_of(form))


def _visible(request: HttpRequest, pk: UUID) -> Instrument:
    rows = Instrument.objects.visible_to(request.user).select_related("owner", "project")
    return get_object_or_404(rows, pk=pk)


def _source(request: HttpRequest) -> InstrumentVersion | None:
    asked = request.GET.get("from", "")
    if not asked:
        return None
    try:
        key = UUID(asked)
    except ValueError:
        key = UUID(int=0)
    return get_object_or_404(InstrumentVersion.objects.visible_to(request.user).select_related("instrument"), pk=key)
