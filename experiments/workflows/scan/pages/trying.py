"""An instrument on single units of transcripts: the exact prompt, and what a judge says when it is asked.

Asking is a scan of these units: the same budget, the same calls, the same annotations.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.engine.excerpts import material_of
from experiments.library.instruments import builtin, findings
from experiments.library.instruments.findings import Finding
from experiments.library.instruments.transcripts import spoken_one
from experiments.models import Annotation, Experiment, InstrumentCase, InstrumentVersion, Run
from experiments.models.labels import seat_name
from experiments.runs import actions
from experiments.setup.casting import checked_cast, checked_config
from experiments.setup.estimates import Estimate, estimate
from experiments.templatetags.arena import turn_name
from experiments.workflows.base.instruments import Definition, prompt_parts
from experiments.workflows.base.measuring import excerpt_of
from experiments.workflows.scan import WORKFLOW
from experiments.workflows.scan.config import Config
from experiments.workflows.scan.services import ScanUnit, units_of

if TYPE_CHECKING:
    from accounts.models import User

MARKER = "0" * 12  # in the place of the token, which is drawn anew for each call
MOST_UNITS = 300  # that are offered of one run
BEGINNING = 60  # characters of a message by which it is chosen


@dataclass(frozen=True, slots=True)
class Shown:
    """One unit of a run and the units beside it. choices: places with words. prompt: what a judge would be sent."""

    run: Run
    unit: ScanUnit
    choices: list[tuple[int, str]]
    prompt: str


def shown(definition: Definition, reader: "User", run: str = "", place: str = "") -> Shown | None:
    """The unit that is named, or the first one; of the run that is named, or the newest. None where no model has spoken
    in any.
    """
    if (chosen := spoken_one(reader, run)) is None:
        return None
    units = units_of(definition, [chosen.pk])[:MOST_UNITS]
    unit = next((one for one in units if str(one.place) == place), units[0])
    return Shown(chosen, unit, list(_choices(definition, chosen, units)), prompt(definition, chosen, unit))


def prompt(definition: Definition, run: Run, unit: ScanUnit) -> str:
    """Every character that the judge would be sent, but for the token of the markers."""
    before, after = prompt_parts(definition, unit.subjects)
    material = material_of(run, excerpt_of(definition, place=unit.place))
    return f"{before}{material.laid_out(MARKER) if material else ''}{after}"


def _choices(definition: Definition, run: Run, units: Sequence[ScanUnit]) -> list[tuple[int, str]]:
    if definition.unit == "run":
        return [(0, _("the whole run"))]
    if definition.unit == "turn":
        return [(unit.place, turn_name(unit.turn)) for unit in units]
    rows = run.messages.filter(seq__in=[unit.place for unit in units]).values_list("seq", "turn", "seat", "text")
    return [
        (seq, f"{turn_name(turn)} · {seat_name(seat)} · {Truncator(text).chars(BEGINNING)}")
        for seq, turn, seat, text in rows
    ]


def config_of(version: InstrumentVersion, places: Mapping[str, Sequence[int]], *, again: bool) -> Config:
    """Of a scan of these units, by the ids of their runs; of a run that is named without places, all of its units."""
    title = builtin.words_of(version.instrument)[0]
    only = {run: list(chosen) for run, chosen in places.items() if chosen}
    asked = {"version": str(version.pk), "title": title, "definition": version.definition}
    found: Config = checked_config(WORKFLOW.slug, {**asked, "runs": list(places), "only": only, "again": again})
    return found


def cost(config: Config, model: str, *, by: "User") -> Estimate:
    """What asking would come to. Raises Invalid where the model cannot be asked."""
    return estimate(WORKFLOW.slug, config, checked_cast(WORKFLOW.slug, config, _cast(model), owner=by), by=by)


def ask(config: Config, model: str, *, by: "User", title: str) -> Experiment:
    """Have the units judged, by a scan of their own. Raises what `actions.create` and `actions.start` raise."""
    with transaction.atomic():
        asked = config.model_dump(mode="json")
        scan = actions.create(owner=by, workflow=WORKFLOW.slug, title=title, config=asked, cast=_cast(model))
        actions.start(scan, by=by)
    return scan


def ask_cases(version: InstrumentVersion, model: str, *, by: "User") -> Experiment:
    """Have the version judge all test cases of its unit that it has not judged with this judge yet. Raises Invalid if
    there is none, and what `ask` raises.
    """
    places: dict[str, list[int]] = defaultdict(list)
    rows = InstrumentCase.objects.visible_to(by).filter(instrument=version.instrument_id, unit=version.parsed.unit)
    for run, place in rows.order_by("run", "place").values_list("run", "place").distinct():
        places[str(run)].append(place)
    if not places:
        raise Invalid(cases=_("There is no test case that this version could be asked about."))
    title = _("%(instrument)s: test cases") % {"instrument": builtin.words_of(version.instrument)[0]}
    return ask(config_of(version, places, again=False), model, by=by, title=title)


def _cast(model: str) -> dict[str, dict[str, str]]:
    return {"judge": {"model": model}} if model else {}


def said(version: InstrumentVersion, on: Shown, reader: "User") -> list[Finding]:
    """What was said last of the unit with this version."""
    rows = Annotation.objects.visible_to(reader).newest().filter(version=version, run=on.run, place=on.unit.place)
    return list(findings.of(rows.select_related("version__instrument", "person").order_by("judge", "pk")))
