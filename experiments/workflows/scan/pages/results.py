"""What a scan found: the annotations that count, and those that are shown."""

from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.models import Annotation, Experiment
from experiments.workflows.base.instruments import Categories, Dimension, ScaleDimension, YesNo

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

SHOWN_BY: dict[str, dict[str, Any]] = {
    "found": {"found": True},
    "unverified": {"is_verified": False},
    "unscored": {"value__isnull": True},
    "all": {},
}
SHOWS = {
    "found": gettext_lazy("what was found"),
    "unverified": gettext_lazy("unverified quotations"),
    "unscored": gettext_lazy("not scored"),
    "all": gettext_lazy("everything"),
}


def annotations(experiment: Experiment, reader: "User | AnonymousUser") -> QuerySet[Annotation]:
    """Those of the version on the runs of the scan, of its judges, that the reader may see: each unit's last ones, be
    they of this scan or of one before.
    """
    judges = experiment.participants.values("model")
    seen = Annotation.objects.visible_to(reader).filter(
        version=experiment.config["version"], run__in=experiment.config["runs"], model__in=judges
    )
    if experiment.config.get("again"):
        seen = seen.filter(made_in__experiment=experiment)
    return seen.newest()


def values_of(dimension: Dimension | None) -> dict[str, tuple[Any, str]]:
    """By which annotations of a dimension are filtered: value and words, by what stands in an address."""
    match dimension:
        case YesNo():
            return {"yes": (True, _("yes")), "no": (False, _("no"))}
        case ScaleDimension():
            return {one.text: (one.value, f"{one.text} {one.anchor}".strip()) for one in dimension.points}
        case Categories(multiple=False):
            return {one.name: (one.name, one.title) for one in dimension.choices}
        case _:
            return {}


def findings(rows: QuerySet[Annotation], dimension: Dimension | None, show: str, value: str) -> QuerySet[Annotation]:
    """show: one of SHOWS. value: of `values_of` the dimension."""
    rows = rows.filter(**SHOWN_BY.get(show, SHOWN_BY["found"]))
    if dimension:
        rows = rows.filter(dimension=dimension.name)
    if said := values_of(dimension).get(value):
        rows = rows.filter(value=said[0])
    return rows.select_related("run__experiment", "message", "version__instrument", "person").order_by(
        "run", "place", "dimension", "judge"
    )
