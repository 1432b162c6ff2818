"""Forms of queues and rubrics: fields with their words. What may be is checked once, by the verbs."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models import ReviewQueue, ReviewRubric
from experiments.models.labels import FLAGS
from experiments.models.review import LONGEST_LOCK, MOST_PEOPLE
from experiments.review import queues, rubrics
from experiments.review.choosing import MOST_ITEMS
from experiments.workflows import REGISTRY
from experiments.workflows.base.flags import REVIEWED

MINE, LAB = "", "lab"
FILTERS = (
    *("workflow", "experiment", "model", "judge", "flags", "confidence_below", "disagreement"),
    *("since", "until", "sample", "seed"),
)
DAY = forms.DateInput(attrs={"type": "date"})


class QueueForm(forms.Form):
    """A new queue. whose: "", "lab", or a project's id."""

    name = forms.CharField(label=_("Name"), required=False, strip=False)
    whose = forms.ChoiceField(label=_("For"), required=False)
    over = forms.ChoiceField(label=_("Over"), choices=ReviewQueue.Over.choices, initial=ReviewQueue.Over.MESSAGES)
    rubric = forms.ModelChoiceField(label=_("Rubric"), queryset=ReviewRubric.objects.none(), empty_label=None)
    members = forms.CharField(
        label=_("Reviewers"), required=False, help_text=_("User names, with commas or spaces between them.")
    )
    overlap = forms.IntegerField(label=_("People per item"), min_value=1, max_value=MOST_PEOPLE, initial=1)
    lock_minutes = forms.IntegerField(
        label=_("Minutes for which an item is held"), min_value=1, max_value=LONGEST_LOCK, initial=20
    )
    is_blind = forms.BooleanField(
        label=_("Blind: models and judges' scores are shown after the answer"), required=False, initial=True
    )
    instructions = forms.CharField(
        label=_("Instructions"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 4})
    )
    workflow = forms.ChoiceField(label=_("Workflow"), required=False)
    experiment = forms.UUIDField(label=_("Experiment (its id)"), required=False)
    model = forms.CharField(label=_("Model"), required=False, max_length=200)
    judge = forms.CharField(label=_("Judge"), required=False, max_length=200)
    flags = forms.MultipleChoiceField(
        label=_("With one of these flags"),
        required=False,
        choices=[(flag, FLAGS[flag]) for flag in REVIEWED],
        widget=forms.CheckboxSelectMultiple,
    )
    confidence_below = forms.FloatField(
        label=_("Judge's confidence below"), required=False, min_value=0, max_value=1, help_text=_("0 to 1")
    )
    disagreement = forms.FloatField(
        label=_("Judges disagree by at least"), required=False, min_value=0, max_value=1, help_text=_("0 to 1")
    )
    since = forms.DateField(label=_("From day"), required=False, widget=DAY)
    until = forms.DateField(label=_("To day"), required=False, widget=DAY)
    sample = forms.IntegerField(
        label=_("Draw at random"), required=False, min_value=1, max_value=MOST_ITEMS, help_text=_("all when empty")
    )
    seed = forms.IntegerField(label=_("Seed"), required=False, min_value=0, max_value=2**31 - 1)

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = ReviewRubric.objects.visible_to(user).newest()
        rubric: Any = self.fields["rubric"]
        rubric.queryset, rubric.label_from_instance = rows, lambda row: f"{rubrics.title_of(row)} v{row.version}"
        mine = [(MINE, _("my own runs"))] if user.may_experiment else []
        lab = [(LAB, _("the lab: every reviewer"))] if queues.may_make_for_lab(user) else []
        self.projects = {str(one.pk): one for one in queues.projects_for(user)}
        whose: Any = self.fields["whose"]
        whose.choices = [*mine, *lab, *((key, one.name) for key, one in self.projects.items())]
        workflow: Any = self.fields["workflow"]
        workflow.choices = [("", _("any")), *((name, name) for name in REGISTRY)]

    def make(self, *, by: User) -> ReviewQueue:
        """The queue that was asked for; raises what `queues.make` raises."""
        given = self.cleaned_data
        return queues.make(
            by=by,
            name=given["name"],
            rubric=given["rubric"],
            over=given["over"],
            filters={name: given[name] for name in FILTERS if given[name] not in ("", None, [])},
            overlap=given["overlap"],
            is_blind=given["is_blind"],
            instructions=given["instructions"],
            lock_minutes=given["lock_minutes"],
            project=self.projects.get(given["whose"]),
            is_lab=given["whose"] == LAB,
            members=names_in(given["members"]),
        )


class QueueChange(forms.Form):
    name = forms.CharField(label=_("Name"), required=False, strip=False)
    members = forms.CharField(
        label=_("Reviewers"), required=False, help_text=_("User names, with commas or spaces between them.")
    )
    lock_minutes = forms.IntegerField(label=_("Minutes for which an item is held"), min_value=1, max_value=LONGEST_LOCK)
    instructions = forms.CharField(
        label=_("Instructions"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 6})
    )


SCALE_ROWS, LABEL_ROWS = 6, 4


class RubricForm(forms.Form):
    """Rows of scales and labels; those without a name are none. Anchors and choices: one a line, `value = words`."""

    title = forms.CharField(label=_("Title"), required=False, strip=False)
    description = forms.CharField(
        label=_("Description"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    shared = forms.BooleanField(label=_("The lab may use it"), required=False)

    @property
    def content(self) -> dict[str, object]:
        return content_of(self.data)


def names_in(text: str) -> list[str]:
    return [name for name in text.replace(",", " ").replace(";", " ").split() if name]


def content_of(data: Mapping[str, Any]) -> dict[str, object]:
    """A rubric as the rows of the form have it; what is no number stays text, which the rubric refuses by name."""
    scales = [_scale(data, number) for number in range(SCALE_ROWS)]
    labels = [_label(data, number) for number in range(LABEL_ROWS)]
    return {"scales": [one for one in scales if one], "labels": [one for one in labels if one]}


def rows_of(row: ReviewRubric | None) -> dict[str, str]:
    """The fields of the form that say what a rubric says."""
    found: dict[str, str] = {}
    for number, scale in enumerate(row.scales if row else []):
        words = {name: str(scale[name]) for name in ("name", "title", "level", "measure")}
        numbers = {name: f"{scale[name]:g}" for name in ("low", "high", "step")}
        anchors = "\n".join(f"{value} = {text}" for value, text in scale["anchors"].items())
        found |= {f"scale-{number}-{name}": text for name, text in {**words, **numbers, "anchors": anchors}.items()}
    for number, label in enumerate(row.labels if row else []):
        choices = "\n".join(f"{one['name']} = {one['title']}" for one in label["choices"])
        words = {"name": label["name"], "title": label["title"], "choices": choices}
        found |= {f"label-{number}-{name}": text for name, text in words.items()}
        found |= {f"label-{number}-multiple": "on"} if label["multiple"] else {}
    return found


def _scale(data: Mapping[str, Any], number: int) -> dict[str, Any] | None:
    text = {
        name: str(data.get(f"scale-{number}-{name}", "")).strip()
        for name in ("name", "title", "low", "high", "step", "level", "anchors", "measure")
    }
    if not text["name"] and not text["title"]:
        return None
    anchors = dict(_pairs(text.pop("anchors")))
    return {**text, "step": text["step"] or 1, "level": text["level"] or "ordinal", "anchors": anchors}


def _label(data: Mapping[str, Any], number: int) -> dict[str, Any] | None:
    text = {name: str(data.get(f"label-{number}-{name}", "")).strip() for name in ("name", "title", "choices")}
    if not text["name"] and not text["title"]:
        return None
    choices = [{"name": name, "title": title} for name, title in _pairs(text["choices"])]
    return {**text, "multiple": bool(data.get(f"label-{number}-multiple")), "choices": choices}


def _pairs(text: str) -> list[tuple[str, str]]:
    """`value = words` a line; words alone name themselves."""
    found = []
    for line in text.splitlines():
        name, equals, words = (part.strip() for part in line.partition("="))
        if name:
            found.append((name, words if equals else name))
    return found
