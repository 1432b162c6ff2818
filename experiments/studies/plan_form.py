"""The form of a plan: outcomes among what can be measured, contrasts among the levels of the design."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from experiments.models import InstrumentVersion
from experiments.models.labels import FLAGS, SENTIMENT_LABELS, seat_name
from experiments.setup.form_fields import LinesField, RowsField
from experiments.studies.design import Design
from experiments.studies.plan import OF_ONE_KIND, Outcome, Plan
from experiments.studies.services import LONGEST_REASON
from experiments.workflows import REGISTRY
from experiments.workflows.base.flags import REVIEWED
from experiments.workflows.base.instruments import ScaleDimension, YesNo
from experiments.workflows.base.judge import RANGES

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from accounts.models import User

MOST_SUGGESTED = 6  # contrasts
TOOLS = {"judge", "filter", "title"}  # seats that say nothing themselves
SCORE_NAMES = {
    "goal_deviation": gettext_lazy("Goal deviation"),
    "cooperation": gettext_lazy("Cooperation"),
    **SENTIMENT_LABELS,
}
FIGURES = {
    "output_tokens": gettext_lazy("Output tokens of the run"),
    "cost": gettext_lazy("Cost of the run, US dollars"),
    "seconds": gettext_lazy("Duration of the run, seconds"),
    "turns": gettext_lazy("Completed turns of the run"),
    "slowest_call": gettext_lazy("Slowest call of the run, seconds"),
}
MESSAGES = {"all": gettext_lazy("diversity of answers"), "last": gettext_lazy("diversity of last answers")}
CONFIDENCES = {
    "mean": gettext_lazy("token probability, mean"),
    "median": gettext_lazy("token probability, median"),
    "tenth": gettext_lazy("token probability, 10th percentile"),
    "low": gettext_lazy("share of tokens with a probability below 0.5"),
}
WIN_RATE = gettext_lazy("win rate")
OVER = [
    ("mean", gettext_lazy("mean of all turns")),
    ("last", gettext_lazy("last turn")),
    ("most", gettext_lazy("highest turn")),
    ("any", gettext_lazy("any turn above the threshold")),
    ("first_turn", gettext_lazy("first turn above the threshold")),
]
ROLES = [("planned", gettext_lazy("planned")), ("explored", gettext_lazy("exploratory"))]
SCOPES = [
    ("runs", gettext_lazy("further runs of these prompts")),
    ("prompts", gettext_lazy("further prompts like these")),
]
TESTS = [("usual", gettext_lazy("the usual test")), ("mixed", gettext_lazy("mixed logistic model"))]


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that can be measured in every run. source: as `plan.Source`, but for `over` and `threshold`; least,
    most: the ends of its scale.
    """

    source: Mapping[str, Any]
    label: Any
    least: float | None = None
    most: float | None = None

    @property
    def key(self) -> str:
        return key_of(self.source)

    @property
    def name(self) -> str:
        """Short enough for an address: `run:cost`, `judgment:cooperation:A`, `annotation:<version>:<dimension>:`."""
        return ":".join(map(str, self.source.values()))

    @property
    def is_rate(self) -> bool:
        """Whether a run has it or has it not."""
        return bool(self.source["of"] == "flag")

    @property
    def is_yes_or_no(self) -> bool:
        """Whether each turn is 1 or 0."""
        return self.source["of"] in ("flag", "annotation") and (self.least, self.most) == (0, 1)

    @property
    def is_whole(self) -> bool:
        """Whether it is of the run, not of its turns."""
        return self.source["of"] in ("run", *OF_ONE_KIND)


def key_of(source: Mapping[str, Any]) -> str:
    """Equal for sources that differ in how turns become one value alone."""
    return json.dumps({k: v for k, v in sorted(source.items()) if k not in ("over", "threshold") and v != ""})


def measures(design: Design, *, reader: "User") -> list[Measure]:
    """What runs of the design have: flags, a judge's scores, what instruments that the reader sees find, win rates, how
    answers differ, probabilities of tokens, figures.
    """
    workflow = REGISTRY[design.workflow]
    versions = InstrumentVersion.objects.visible_to(reader)
    named = design.seats
    speaking = {*workflow.subjects, *workflow.flagged, workflow.leads, *named} - TOOLS
    return measures_of(
        versions,
        flagged=workflow.flagged,
        judged=workflow.subjects,
        measured=workflow.subjects,
        ranked=[seat for seat in workflow.ranked if seat in named],
        speaking=[seat for seat in workflow.seats if seat in speaking],
    )


def measures_of(
    versions: "QuerySet[InstrumentVersion]",
    *,
    flagged: Iterable[str],
    judged: Iterable[str],
    measured: Collection[str],
    ranked: Iterable[str],
    speaking: Iterable[str] = (),
) -> list[Measure]:
    """Flags, a judge's scores and what these versions of instruments find, win rates, how answers differ and with what
    probability they were said, each of its seats; and figures of runs.
    """
    flags = [
        Measure({"of": "flag", "flag": flag, "seat": seat}, format_lazy("{}: {}", seat_name(seat), FLAGS[flag]), 0, 1)
        for seat in flagged
        for flag in REVIEWED
    ]
    scores = [
        Measure(
            {"of": "judgment", "score": score, "seat": seat},
            format_lazy("{}: {}", seat_name(seat), SCORE_NAMES[score]),
            *RANGES[score],
        )
        for seat in judged
        for score in RANGES
    ]
    wins = [
        Measure({"of": "ranking", "seat": one}, format_lazy("{}: {}", seat_name(one), WIN_RATE), 0, 1) for one in ranked
    ]
    said = [
        Measure({"of": of, "seat": seat, name: value}, format_lazy("{}: {}", seat_name(seat), label), 0, 1)
        for of, name, several in (("answers", "messages", MESSAGES), ("confidence", "figure", CONFIDENCES))
        for seat in speaking
        for value, label in several.items()
    ]
    figures = [Measure({"of": "run", "figure": figure}, label, least=0) for figure, label in FIGURES.items()]
    return [*flags, *scores, *_of_instruments(measured, versions), *wins, *said, *figures]


def _of_instruments(subjects: Collection[str], versions: "QuerySet[InstrumentVersion]") -> list[Measure]:
    found = []
    for version in versions.select_related("instrument").order_by("instrument__title", "-number"):
        definition = version.parsed
        is_of_speakers = definition.unit == "message" or definition.each_speaker
        for dimension in definition.dimensions:
            ends: tuple[float | None, float | None] = (None, None)
            if isinstance(dimension, ScaleDimension):
                ends = float(dimension.low), float(dimension.high)
            elif isinstance(dimension, YesNo):
                ends = 0.0, 1.0
            for seat in subjects if is_of_speakers else ("",):
                source = {"of": "annotation", "version": str(version.pk), "dimension": dimension.name, "seat": seat}
                told = f"{seat_name(seat)}: " if seat else ""
                found.append(Measure(source, f"{told}{version} · {dimension.title}", *ends))
    return found


class PlanForm(forms.Form):
    """design: of the study. reason: of an amendment; asked for where `is_locked`."""

    hypothesis = LinesField(
        label=gettext_lazy("Hypothesis"),
        required=False,
        max_length=5_000,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    alpha = forms.FloatField(label=gettext_lazy("Alpha"), initial=0.05, min_value=0, max_value=0.2)
    looks = forms.CharField(label=gettext_lazy("Looks, as shares of the runs"), initial="1", max_length=200)
    reason = LinesField(
        label=gettext_lazy("Why the plan changes"),
        required=False,
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, design: Design, reader: "User", is_locked: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        self.design, self.measures = design, {one.key: one for one in measures(design, reader=reader)}
        if not is_locked:
            del self.fields["reason"]
        measured = [("", "–"), *((one.key, one.label) for one in self.measures.values())]
        levels = [
            ("", "–"),
            *((f"{f.name}={one.name}", f"{f.name}: {one.name}") for f in design.factors for one in f.levels),
        ]
        number, text = forms.NumberInput(attrs={"step": "any"}), forms.TextInput(attrs={"maxlength": 80})
        self.fields["outcomes"] = RowsField(
            {
                "measure": forms.ChoiceField(label=_("What is measured"), choices=measured),
                "over": forms.ChoiceField(label=_("Value of the run"), choices=OVER),
                "threshold": forms.CharField(label=_("Threshold"), widget=number),
                "category": forms.CharField(label=_("Category"), widget=text),
                "name": forms.CharField(label=_("Name"), widget=text),
            },
            ("measure",),
            label=_("Outcomes"),
        )
        self.fields["contrasts"] = RowsField(
            {
                "first": forms.ChoiceField(label=pgettext("contrast", "First"), choices=levels),
                "second": forms.ChoiceField(label=_("Second"), choices=levels),
                "outcome": forms.CharField(label=_("Outcome"), widget=forms.TextInput(attrs={"list": "outcome-names"})),
                "role": forms.ChoiceField(label=_("Role"), choices=ROLES),
                "scope": forms.ChoiceField(label=_("Holds for"), choices=SCOPES),
                "test": forms.ChoiceField(label=_("Tested by"), choices=TESTS),
                "name": forms.CharField(label=_("Name"), widget=text),
            },
            ("first", "second"),
            label=_("Contrasts"),
        )
        self.fields["exclusions"] = RowsField(
            {
                "outcome": forms.CharField(label=_("Outcome"), widget=forms.TextInput(attrs={"list": "outcome-names"})),
                "below": forms.CharField(label=_("Below"), widget=number),
                "above": forms.CharField(label=_("Above"), widget=number),
            },
            ("outcome",),
            label=_("Exclusions"),
        )

    def clean(self) -> None:
        """Whether a turn is above a threshold is clear without one only where its value is yes or no."""
        field = cast(RowsField, self.fields["outcomes"])
        for number, row in enumerate(self.cleaned_data.get("outcomes", [])):
            measure, is_of_turns = self.measures.get(row["measure"]), row["over"] in ("any", "first_turn")
            is_clear = measure is not None and (measure.is_whole or measure.is_yes_or_no)
            if is_of_turns and not is_clear and not row["threshold"].strip():
                self.add_error("outcomes", field.complain(number, "threshold", _("Enter a threshold.")))

    def clean_looks(self) -> list[float]:
        try:
            return [float(part) for part in self.cleaned_data["looks"].replace(",", " ").split()]
        except ValueError as error:
            raise forms.ValidationError(_("Enter shares such as 0.5, 1.")) from error

    def plan(self) -> dict[str, object]:
        """As `Plan` reads it; nothing but it has checked it."""
        said = self.cleaned_data
        outcomes = [self._outcome(row) for row in said["outcomes"]]
        first = outcomes[0]["name"] if outcomes else ""
        contrasts = [(row["role"], _contrast(row, first)) for row in said["contrasts"]]
        return {
            "hypothesis": said["hypothesis"],
            "outcomes": outcomes,
            "contrasts": [one for role, one in contrasts if role != "explored"],
            "explored": [one for role, one in contrasts if role == "explored"],
            "exclusions": [{k: v for k, v in row.items() if v.strip()} for row in said["exclusions"]],
            "alpha": said["alpha"],
            "looks": said["looks"],
        }

    def _outcome(self, row: Mapping[str, str]) -> dict[str, Any]:
        measure = self.measures.get(row["measure"])
        source = dict(measure.source) if measure else {}
        is_of_turns = measure is None or not measure.is_whole
        over = row["over"] if is_of_turns else "mean"
        kind = OF_ONE_KIND.get(source.get("of", ""), {"any": "rate", "first_turn": "time"}.get(over, "score"))
        if is_of_turns:
            source |= {"over": over, "threshold": row["threshold"].strip() or 0}
        if source.get("of") == "annotation":
            source["category"] = row["category"].strip()
        ends = {"least": measure.least, "most": measure.most} if measure and kind == "score" else {}
        until = {"until": self.design.config.get("max_turns")} if kind == "time" else {}
        name = row["name"].strip() or str(measure.label if measure else "")
        return {"name": name[:80], "kind": kind, "source": source, **ends, **until}

    def placed(self, path: str, sentence: str) -> tuple[str | None, str]:
        """Of a complaint about the plan: the field, with the row that it is about."""
        name, *inner = path.removeprefix("plan.").split(".")
        name = "contrasts" if name == "explored" else name
        if name not in self.fields:
            return None, sentence
        field = self.fields[name]
        if isinstance(field, RowsField) and inner and inner[0].isdigit():
            return name, field.complain(int(inner[0]), inner[-1], sentence)
        return name, sentence


def _contrast(row: Mapping[str, str], outcome: str) -> dict[str, object]:
    sides = [dict([row[side].split("=", 1)]) if "=" in row[side] else {} for side in ("first", "second")]
    levels = [", ".join(side.values()) for side in sides]
    asked = row["outcome"].strip() or outcome
    name = row["name"].strip() or f"{' – '.join(levels)}: {asked}"
    return {
        "name": name[:80],
        "outcome": asked,
        "first": sides[0],
        "second": sides[1],
        "scope": row["scope"] or "runs",
        "test": row["test"] or "usual",
    }


def values_of(plan: Plan) -> dict[str, object]:
    return {
        "hypothesis": plan.hypothesis,
        "outcomes": [_row_of(one) for one in plan.outcomes],
        "contrasts": [
            {
                "first": _only(one.first),
                "second": _only(one.second),
                "outcome": one.outcome,
                "role": role,
                "scope": one.scope,
                "test": one.test,
                "name": one.name,
            }
            for role, several in (("planned", plan.contrasts), ("explored", plan.explored))
            for one in several
        ],
        "exclusions": [one.model_dump(exclude_none=True) for one in plan.exclusions],
        "alpha": plan.alpha,
        "looks": ", ".join(f"{share:g}" for share in plan.looks),
    }


def _row_of(outcome: Outcome) -> dict[str, object]:
    source = outcome.source.model_dump(mode="json")
    shown = {name: source.pop(name, "") for name in ("over", "threshold", "category")}
    return {"measure": key_of(source), "name": outcome.name, **shown}


def _only(levels: Mapping[str, str]) -> str:
    return "=".join(next(iter(levels.items()))) if len(levels) == 1 else ""


def can_be_shown(plan: Plan) -> bool:
    """Whether the form can hold the plan: each side of its contrasts is one level."""
    return all(len(side) == 1 for one in (*plan.contrasts, *plan.explored) for side in (one.first, one.second))


def suggested(design: Design, found: Iterable[Measure]) -> dict[str, object]:
    """A beginning: the first thing that can be measured, and each level beside the first of its factor."""
    measure = next(iter(found))
    over = "any" if measure.source["of"] == "flag" else "mean"
    name = str(measure.label)[:80]
    outcome = {"measure": measure.key, "over": over, "threshold": "", "name": name}
    rows = [
        {"first": f"{factor.name}={one.name}", "second": f"{factor.name}={factor.levels[0].name}", "outcome": name}
        for factor in design.factors
        if not factor.is_prompt
        for one in factor.levels[1:]
    ]
    return {"outcomes": [outcome], "contrasts": rows[:MOST_SUGGESTED]}
