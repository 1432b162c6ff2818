"""The instrument of a run's judge: chosen at set-up, and frozen in the configuration."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from accounts.pickers import Finder, Picker
from experiments.library.instruments import builtin
from experiments.models import InstrumentVersion
from experiments.workflows import REGISTRY
from experiments.workflows.base.events import JsonObject
from experiments.workflows.base.material import Unit
from experiments.workflows.base.measuring import Chosen, ChosenSideBySide, units_of
from experiments.workflows.base.surface import Asked, SeatForm, Seats

if TYPE_CHECKING:
    from experiments.setup.forms import DeclaredForm

FIELD = "instrument-version"
LABELS = {FIELD: gettext_lazy("What it measures"), "judge": gettext_lazy("Have a judge measure the messages")}
HINTS = {FIELD: gettext_lazy("An instrument has its own prompt and limits, and says what the judge reads.")}
FINDERS = {Chosen.UNITS: "find-instruments", ChosenSideBySide.UNITS: "find-instruments-without-order"}
NOBODY = gettext_lazy("the instrument's or lab default")
JUDGE = Seats(
    (
        SeatForm(
            "judge",
            gettext_lazy("Judge"),
            gettext_lazy("Measures each message once its stage is over, beside the run."),
            nobody=NOBODY,
            needs="judge",
            fields=(FIELD,),
            is_tool=True,
        ),
    ),
    title=gettext_lazy("Judge by instrument"),
    is_folded=True,
)


def usable(reader: User) -> QuerySet[InstrumentVersion]:
    """The newest versions of the instruments that can be chosen."""
    later = InstrumentVersion.objects.filter(instrument=OuterRef("instrument"), number__gt=OuterRef("number"))
    newest = InstrumentVersion.objects.usable_by(reader).filter(~Exists(later))
    newest = newest.exclude(instrument__slug__in=builtin.unfit_for_runs())
    return newest.select_related("instrument").order_by("instrument__title")


def live(reader: User, units: Sequence[Unit] = Chosen.UNITS) -> QuerySet[InstrumentVersion]:
    """Those among them by which a run can be judged while it is played. units: what is judged in it."""
    return usable(reader).filter(definition__unit__in=units)


def label_of(version: InstrumentVersion) -> str:
    return f"{builtin.words_of(version.instrument)[0]} · {version.number}"


class FindInstruments(Finder):
    """By their titles, those of built-in ones in the reader's language, too. units: see `live`."""

    units: Sequence[Unit] = Chosen.UNITS

    def found(self, user: User, typed: str) -> QuerySet[Any]:
        said = [slug for slug, words in builtin.translated().items() if typed.casefold() in str(words[0]).casefold()]
        return live(user, self.units).filter(Q(instrument__title__icontains=typed) | Q(instrument__slug__in=said))

    def shown(self, row: Any) -> dict[str, str]:
        return {"value": str(row.pk), "label": label_of(row), "hint": builtin.words_of(row.instrument)[1][:80]}


class VersionField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic in its stubs alone
    def label_from_instance(self, obj: Any) -> str:
        return label_of(obj)


def version_field(
    reader: User, named: str = "", units: Sequence[Unit] = Chosen.UNITS, /, **options: Any
) -> VersionField:
    """named: a version that can be chosen beside the newest ones, such as the one of a run that is set up again."""
    rows = live(reader, units)
    if named:
        with suppress(ValidationError):  # no id at all, of which the field complains
            known = Q(pk__in=rows.values("pk")) | Q(pk=named)
            rows = InstrumentVersion.objects.visible_to(reader).filter(known).select_related("instrument")
    return VersionField(queryset=rows, required=False, widget=Picker(FINDERS[tuple(units)]), **options)


def fill(form: "DeclaredForm") -> None:
    """The field of a set-up form in which it is chosen."""
    named = (form.data if form.is_bound else form.initial).get(FIELD)
    workflow = REGISTRY[form.workflow]
    words = {"label": LABELS[FIELD], "empty_label": _("the built-in scores") if workflow.judge else _("none")}
    form.fields[FIELD] = version_field(form.reader, str(named or ""), units_of(workflow.config), **words)


def asked(form: "DeclaredForm", asked: Asked) -> Asked:
    """The definition is frozen as it is now."""
    field: Any = form.fields[FIELD]
    try:
        version = field.to_python(form.cleaned_data[FIELD])
    except ValidationError:  # of a draft
        version = None
    others = {name: value for name, value in asked["config"].items() if name != "instrument"}
    return {**asked, "config": {**others, "instrument": frozen(version)} if version else others}


def frozen(version: InstrumentVersion) -> JsonObject:
    title = builtin.words_of(version.instrument)[0]
    return {"version": str(version.pk), "title": title, "definition": version.definition}
