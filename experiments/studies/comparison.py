"""Several studies of one outcome beside each other: their contrasts as their latest looks saw them, pooled where they
measure the same, and what differs in their designs.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.errors import Invalid, NotFound
from experiments.models import InstrumentVersion, Participant, Study, StudyLook
from experiments.models.labels import FLAGS, seat_name
from experiments.studies.design import Design, Levels
from experiments.studies.plan_form import CONFIDENCES, FIGURES, MESSAGES, OVER, SCOPES, SCORE_NAMES, WIN_RATE
from leaderboard.ratings.studies import table
from leaderboard.ratings.studies.analysis import Contrast, confidence_of, difference_of
from leaderboard.ratings.studies.analysis import Plan as Analyzed
from leaderboard.ratings.studies.pooling import Pooled, pooled
from leaderboard.ratings.studies.rates import Difference
from leaderboard.ratings.values import COVERAGE, NORMAL, Undefined

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

LEAST, MOST = 2, 6
NOT_POOLED = {
    "one_study": gettext_lazy("Not pooled: fewer than two of these studies have an interval for it."),
    "no_spread": gettext_lazy("Not pooled: a study found no variation, so its interval has no width to weigh it by."),
    "scale": gettext_lazy("Not pooled: the outcome is not on the same scale in all studies."),
    "source": gettext_lazy("Not pooled: the studies measure the outcome in different ways."),
    "scope": gettext_lazy("Not pooled: not all studies mean the same prompts; see “Holds for” below."),
    "provider": gettext_lazy("Not pooled: token probabilities of different providers are not comparable."),
    "until": gettext_lazy("Not pooled: a time has no last turn that all studies share. Set “until” in their plans."),
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one study says of a contrast. n: runs with a value on each side. difference: with its 95 % interval,
    whatever looks there were; None, and why in `missing`, where there is none.
    """

    study: Study
    levels: tuple[Levels, Levels]
    n: tuple[int, int]
    difference: Difference | None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """A contrast of one name in two studies or more. not_pooled: why there is no summary: a code of NOT_POOLED."""

    contrast: str
    is_rate: bool
    estimates: Sequence[Estimate]
    pooled: Pooled | None
    not_pooled: str = ""


@dataclass(frozen=True, slots=True)
class Trait:
    """values: of each study, in their order."""

    name: str
    values: Sequence[str]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """studies: those chosen. outcomes: names that two or more analyzed ones share; outcome: the one that is compared,
    "" where they share none. waiting: those that nobody has analyzed yet.
    """

    studies: Sequence[Study]
    outcomes: Sequence[str]
    outcome: str
    contrasts: Sequence[Compared]
    traits: Sequence[Trait]
    waiting: Sequence[Study]


def chosen(reader: "User | AnonymousUser", ids: Iterable[str]) -> list[Study]:
    """The studies in this order, each once. Raises NotFound for one that may not be seen, and Invalid for too few or
    too many.
    """
    try:
        wanted = list(dict.fromkeys(UUID(one) for one in ids))
    except ValueError as error:
        raise NotFound from error
    if not LEAST <= len(wanted) <= MOST:
        raise Invalid(study=_("Choose %(least)s to %(most)s studies to compare.") % {"least": LEAST, "most": MOST})
    rows = Study.objects.visible_to(reader).filter(pk__in=wanted).with_counts()
    found = {study.pk: study for study in rows}
    if len(found) < len(wanted):
        raise NotFound
    return [found[key] for key in wanted]


def of(studies: Sequence[Study], reader: "User | AnonymousUser", outcome: str = "") -> Comparison:
    """studies: as `chosen` gives them. outcome: "" for the first that they share. Raises Invalid for one that fewer
    than two of them have.
    """
    newest = StudyLook.objects.filter(study__in=studies).order_by("study", "-number").select_related("study")
    newest = newest.defer("data", "labels")
    looks: dict[UUID, StudyLook] = {}
    for look in newest:
        looks.setdefault(look.study_id, look)
    seen = [looks[study.pk] for study in studies if study.pk in looks]
    names = [one["name"] for look in seen for one in look.analyzed["outcomes"]]
    shared = [name for name in dict.fromkeys(names) if names.count(name) >= LEAST]
    if outcome and outcome not in shared:
        raise Invalid(outcome=_("Fewer than two of these studies have an outcome “%(name)s”.") % {"name": outcome})
    asked = outcome or next(iter(shared), "")
    return Comparison(
        studies=studies,
        outcomes=shared,
        outcome=asked,
        contrasts=_contrasts(seen, asked),
        traits=_traits(studies, looks, asked, reader),
        waiting=[study for study in studies if study.pk not in looks],
    )


def _contrasts(looks: Sequence[StudyLook], outcome: str) -> list[Compared]:
    """Those of one name that two studies or more have."""
    analyzed = [(look, Analyzed.read(look.analyzed)) for look in looks]
    having = [
        (look, plan, {one.name: one for one in (*plan.contrasts, *plan.explored) if one.outcome == outcome})
        for look, plan in analyzed
    ]
    names = [name for _look, _plan, contrasts in having for name in contrasts]
    found = []
    for name in dict.fromkeys(names):
        several = [(look, plan, contrasts[name]) for look, plan, contrasts in having if name in contrasts]
        if len(several) >= LEAST:
            estimates = [_estimate(look, plan, contrast) for look, plan, contrast in several]
            found.append(_compared(name, _differing(outcome, several), _defined(several[0][0], outcome), estimates))
    return found


def _estimate(look: StudyLook, plan: Analyzed, contrast: Contrast) -> Estimate:
    """As the look has it, where its intervals are at 95 %; else from its data."""
    seen = _seen(look, contrast)
    difference, missing = None, seen["no_interval"]
    confidence = confidence_of(plan, contrast, look.results["shares"], look.results.get("spent_at"))
    if not math.isclose(confidence, COVERAGE):
        found = difference_of(plan, contrast, table.read(plan, look.data))
        difference, missing = (None, str(found.reason)) if isinstance(found, Undefined) else (found, "")
    elif seen["difference"] is not None:
        difference = Difference(seen["difference"], seen["low"], seen["high"])
    return Estimate(
        study=look.study,
        levels=(contrast.first, contrast.second),
        n=(seen["first"]["n"], seen["second"]["n"]),
        difference=difference,
        missing=missing,
    )


def _seen(look: StudyLook, contrast: Contrast) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(one for one in look.results["results"] if one["contrast"] == contrast.name)
    return found


def _compared(name: str, differing: str, defined: Mapping[str, Any], estimates: Sequence[Estimate]) -> Compared:
    """The error of a study is the width of its 95 % interval over 2 × 1.96.
    Source: Cochrane Handbook for Systematic Reviews of Interventions, 6.3.1.
    """
    known = [one.difference for one in estimates if one.difference]
    errors = [(one.high - one.low) / (2 * NORMAL) for one in known]
    summary = pooled([one.value for one in known], errors, most=_largest(defined))
    reason = differing
    if isinstance(summary, Undefined):
        reason = differing or ("one_study" if len(known) < LEAST else "no_spread")
    return Compared(
        contrast=name,
        is_rate=defined["kind"] == "rate",
        estimates=estimates,
        pooled=None if reason or isinstance(summary, Undefined) else summary,
        not_pooled=reason,
    )


def _largest(defined: Mapping[str, Any]) -> float:
    """Of the differences that the scale of an outcome allows; of times, to which there is no end, none."""
    least, most = defined.get("least"), defined.get("most")
    return math.inf if least is None or most is None else float(most) - float(least)


def _differing(outcome: str, several: Sequence[tuple[StudyLook, Analyzed, Contrast]]) -> str:
    """Why differences of these studies are not of one kind; "" where they are."""
    defined = [_defined(look, outcome) for look, _plan, _contrast in several]

    def differ(*names: str) -> bool:
        return any(one.get(name) != defined[0].get(name) for one in defined for name in names)

    if differ("kind", "least", "most", "until"):
        return "scale"
    if differ("source"):
        return "source"
    if len({contrast.scope for _look, _plan, contrast in several}) > 1:
        return "scope"
    tokens = [_seen(look, contrast).get("confidence") or {} for look, _plan, contrast in several]
    if len({provider for one in tokens for provider in one.get("providers", ())}) > 1:
        return "provider"
    return "until" if defined[0]["kind"] == "time" and defined[0].get("until") is None else ""


def _defined(look: StudyLook, outcome: str) -> Mapping[str, Any]:
    """The outcome as the plan defines it."""
    found: Mapping[str, Any] = next((one for one in look.analyzed["outcomes"] if one["name"] == outcome), {})
    return found


def _traits(
    studies: Sequence[Study], looks: Mapping[UUID, StudyLook], outcome: str, reader: "User | AnonymousUser"
) -> list[Trait]:
    """What is to be known of the designs: one value for each study, "" where it has none."""
    designs = {study.pk: Design.model_validate(study.design) for study in studies}
    defined = {study.pk: _defined(looks[study.pk], outcome) if study.pk in looks else {} for study in studies}
    models, versions = _models(studies), _versions(defined, reader)

    def scopes(study: Study) -> str:
        plan = looks[study.pk].analyzed if study.pk in looks else {}
        several = [*plan.get("contrasts", ()), *plan.get("explored", ())]
        words = dict(SCOPES)
        return ", ".join(dict.fromkeys(str(words[one["scope"]]) for one in several if one["outcome"] == outcome))

    def said(study: Study, name: str) -> str:
        value = defined[study.pk].get(name)
        return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)

    def factors(study: Study) -> str:
        several = designs[study.pk].factors
        return "; ".join(f"{one.name}: {', '.join(level.name for level in one.levels)}" for one in several)

    def runs(study: Study) -> str:
        ended = looks[study.pk].ended if study.pk in looks else 0
        return _("%(ended)s of %(planned)s") % {"ended": ended, "planned": vars(study)["planned"]}

    asked: tuple[tuple[str, Callable[[Study], str]], ...] = (
        (_("Workflow"), lambda study: designs[study.pk].workflow),
        (_("Models"), lambda study: ", ".join(models.get(study.pk, ()))),
        (_("Factors"), factors),
        (_("Repeats"), lambda study: str(designs[study.pk].repeats)),
        (_("Runs analyzed"), runs),
        (_("Outcome measured by"), lambda study: _source(defined[study.pk].get("source"), versions)),
        (_("Scale from"), lambda study: said(study, "least")),
        (_("Scale to"), lambda study: said(study, "most")),
        (_("Last turn counted"), lambda study: said(study, "until")),
        (_("Holds for"), scopes),
    )
    traits = [Trait(name, [value(study) for study in studies]) for name, value in asked]
    return [trait for trait in traits if any(trait.values)]


def _models(studies: Sequence[Study]) -> dict[UUID, list[str]]:
    """Of each study the models that play in it, once it has begun."""
    played = Participant.objects.filter(experiment__condition__study__in=studies)
    pairs = played.order_by("model__slug").values_list("experiment__condition__study", "model__slug").distinct()
    found: dict[UUID, list[str]] = {}
    for study, slug in pairs:
        found.setdefault(study, []).append(slug)
    return found


def _versions(defined: Mapping[UUID, Mapping[str, Any]], reader: "User | AnonymousUser") -> dict[str, str]:
    """What the versions of instruments are called, of those that the reader can see."""
    asked = {one["source"]["version"] for one in defined.values() if one.get("source", {}).get("of") == "annotation"}
    rows = InstrumentVersion.objects.visible_to(reader).filter(pk__in=asked).select_related("instrument")
    return {str(version.pk): str(version) for version in rows}


def _source(source: Mapping[str, Any] | None, versions: Mapping[str, str]) -> str:
    """How the outcome is measured, in the words of the plan's form."""
    if source is None:
        return ""
    if source["of"] == "run":
        return str(FIGURES[source["figure"]])
    if source["of"] == "annotation":
        instrument = versions.get(str(source["version"]), _("an instrument that you cannot see"))
        what = " · ".join(filter(None, (instrument, source["dimension"], source.get("category"))))
    else:
        of_others = {"judgment": SCORE_NAMES, "flag": FLAGS, "answers": MESSAGES, "confidence": CONFIDENCES}
        named = next((source[name] for name in ("score", "flag", "messages", "figure") if name in source), "")
        what = str(WIN_RATE if source["of"] == "ranking" else of_others[source["of"]][named])
    seat, over, threshold = source.get("seat"), str(source.get("over", "")), source.get("threshold")
    whole = f"{seat_name(seat)}: {what}" if seat else what
    read = f"{dict(OVER)[over]} ({threshold:g})" if threshold else str(dict(OVER).get(over, ""))
    return ", ".join(filter(None, (whole, read)))
