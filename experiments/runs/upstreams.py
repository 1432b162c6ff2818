"""Which upstreams answered: a provider may serve one model from several, which is not the same model any more."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count

from experiments.api.shapes import shape
from experiments.models import Call, Study


@dataclass(frozen=True, slots=True)
class Upstream:
    """answers: that it gave."""

    name: str
    answers: int


@dataclass(frozen=True, slots=True)
class Mixed:
    """A model, or a contestant, that several upstreams answered for; those with the most answers first."""

    name: str
    label: str
    upstreams: tuple[Upstream, ...]


MixedSerializer = shape(
    "SeveralUpstreams",
    Mixed,
    doc="""
    A contestant, a judge or a model that several upstreams of its provider answered for, those with most answers first.
    """,
    upstreams=shape("Upstream", Upstream)(many=True),
)


def mixed(rows: Iterable[tuple[str, str, str, int]]) -> tuple[Mixed, ...]:
    """rows: name, label, upstream, and how many answers. Who has one upstream is left out, and answers without one."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for name, label, upstream, answers in rows:
        if upstream:
            of_name = found.setdefault((name, label), {})
            of_name[upstream] = of_name.get(upstream, 0) + answers
    return tuple(
        Mixed(name, label, tuple(Upstream(*one) for one in sorted(given.items(), key=lambda one: (-one[1], one[0]))))
        for (name, label), given in sorted(found.items())
        if len(given) > 1
    )


def upstreams_of_study(study: Study) -> tuple[Mixed, ...]:
    """Of the models in a study's runs."""
    calls = Call.objects.filter(run__planned__study=study, state=Call.State.COMPLETED).order_by()
    return mixed(calls.values_list("model__slug", "model__label", "served_provider").annotate(answers=Count("pk")))
