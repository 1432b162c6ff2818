"""The set-up page of scans: which instruments and runs there are, and what the judging of them may come to."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.errors import Invalid
from accounts.people import person
from experiments.engine.excerpts import material_of
from experiments.library.bulk import selecting
from experiments.library.instruments import builtin
from experiments.models import Instrument, InstrumentVersion, Participant, Run
from experiments.review.answer_form import uuid_of
from experiments.setup.forms import DeclaredForm
from experiments.templatetags.arena import grouped
from experiments.workflows.base.dry_run import BYTES_PER_TOKEN, Planned, Sample
from experiments.workflows.base.measuring import excerpt_of
from experiments.workflows.base.steps import Stored
from experiments.workflows.base.surface import Asked
from experiments.workflows.scan.config import Config, Task
from experiments.workflows.scan.services import UnitGround

if TYPE_CHECKING:
    from accounts.models import User

TITLES_SHOWN = 5
LOOKED_AT = 40  # units whose length is measured
TOKEN = "0" * 12  # as long as those of fences


def fill(form: DeclaredForm) -> None:
    """The newest versions of the instruments that can be chosen, and the one that the form names."""
    rows = Instrument.objects.usable_by(form.reader).with_newest()
    offered = {str(one.newest_id): builtin.words_of(one)[0] for one in rows}  # type: ignore[attr-defined]  # annotated
    said = str((form.data if form.is_bound else form.initial).get("version") or "")
    named = InstrumentVersion.objects.visible_to(form.reader).filter(pk=said) if len(said) == 36 else None
    if named and (older := named.select_related("instrument").first()) and said not in offered:
        offered[said] = str(older)
    field: Any = form.fields["version"]
    field.choices = sorted(offered.items(), key=lambda one: one[1].casefold())
    field.initial = field.choices[0][0] if offered else None  # as the browser shows it
    runs = form["runs"].value() or []
    listed = runs.split() if isinstance(runs, str) else runs
    form.found["selected"] = len(listed)
    first = [one for run in listed[:TITLES_SHOWN] if (one := uuid_of(run))]
    titles = Run.objects.visible_to(form.reader).filter(pk__in=first).values_list("experiment__title", flat=True)
    form.found["titles"] = list(dict.fromkeys(titles))


def initial(request: HttpRequest, values: Mapping[str, Any]) -> dict[str, object]:
    """The runs that the address selects, as the list of runs has its filters. Raises Invalid for what selects none."""
    asked = {name: value for name, value in request.GET.items() if name not in ("clone", "version", "run")}
    found: dict[str, object] = {"version": request.GET["version"]} if "version" in request.GET else {}
    if runs := request.GET.getlist("runs") or request.GET.getlist("run"):
        asked["runs"] = runs  # type: ignore[assignment]  # several of a name
    return {**found, "runs": selecting.ids(asked, by=person(request))} if asked else found


def asked(form: DeclaredForm, asked: Asked) -> Asked:
    """The definition is frozen as it is now."""
    version = InstrumentVersion.objects.visible_to(form.reader).filter(pk=form.cleaned_data["version"]).first()
    if version is None:
        raise Invalid({"config.version": [_("Choose an instrument.")]})
    title = builtin.words_of(version.instrument)[0]
    return {**asked, "config": {**asked["config"], "title": title, "definition": version.definition}}


def plan(config: Config, seated: Sequence[Participant], by: "User") -> Planned:
    """One unit of each judge stands for all that it has not judged yet; their length is measured on some."""
    ground = UnitGround(config, {one.seat: one.model_id for one in seated}, by)
    missing = {seat: int(flags.sum()) for seat, flags in ground.unanswered.items()}
    subjects = ground.units[0].subjects if ground.units else ()
    samples = [
        Sample(
            config.model_copy(
                update={
                    "tasks": [Task(run=config.runs[0], subjects=list(subjects), seats=[seat])],
                    "side_by_side": 1,
                }
            ),
            Fraction(count),
            Fraction(count),
        )
        for seat, count in missing.items()
    ]
    known = len(ground.units) * len(missing) - sum(missing.values())
    units = ngettext("%(n)s unit", "%(n)s units", len(ground.units)) % {"n": grouped(len(ground.units))}
    runs = ngettext("%(n)s run", "%(n)s runs", len(config.runs)) % {"n": grouped(len(config.runs))}
    judged = _("%(n)s judged before and left out") % {"n": grouped(known)} if known else ""
    return Planned(
        samples=samples,
        stored=_size_of(ground, config),
        at_once=max(1, sum(one.model.provider.concurrency for one in seated if one.model.pk)),
        lead=[" · ".join(filter(None, (runs, units, judged)))],
        warnings=[] if ground.units else [_("These runs have no messages of models to judge.")],
    )


def _size_of(ground: UnitGround, config: Config) -> Any:
    """Tokens of a unit as the judge is shown it: the mean of some."""
    step = max(1, len(ground.units) // LOOKED_AT)
    some = list(islice(ground.units[::step], LOOKED_AT))
    runs = Run.objects.select_related("experiment").in_bulk([unit.run for unit in some])
    sizes = []
    for unit in some:
        material = material_of(runs[unit.run], excerpt_of(config.definition, place=unit.place))
        sizes.append(len(material.laid_out(TOKEN).encode()) if material else 0)
    mean = ceil(sum(sizes) / max(1, len(sizes)) / BYTES_PER_TOKEN[False])

    def of(part: Stored) -> int:
        return mean

    return of
