"""Forms of queues and rubrics: fields with their words. What may be is checked once, by the verbs."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from accounts.models import Project, User
from accounts.pickers import Finder, Picker, PickerOfSeveral, people
from experiments.models import Experiment, ProviderModel, ReviewQueue, ReviewRubric
from experiments.models.labels import FLAGS, workflow_name
from experiments.review import desk, queues, rubrics
from experiments.review.filling import MOST_ITEMS, Filters
from experiments.setup.form_fields import pairs
from experiments.workflows import REGISTRY
from experiments.workflows.base.flags import REVIEWED

MINE, LAB = "", "lab"
DAY = forms.DateInput(attrs={"type": "date"})
SCALE_ROWS, LABEL_ROWS = 6, 4
SCALE_PARTS = ("name", "title", "low", "high", "step", "level", "anchors", "measure")
LABEL_PARTS = ("name", "title", "multiple", "choices")


class FindExperiments(Finder):
    def found(self, user: User, typed: str) -> QuerySet[Any]:
        return experiments_of(user).filter(title__icontains=typed)

    def shown(self, row: Any) -> dict[str, str]:
        return {"value": str(row.pk), "label": row.title, "hint": f"{row.owner.username}, {row.created:%Y-%m-%d}"}


def experiments_of(user: User) -> QuerySet[Experiment]:
    """Those that somebody may name, newest first."""
    return Experiment.objects.visible_to(user).select_related("owner").order_by("-created")


def workflows() -> list[tuple[str, Any]]:
    return [("", _("any")), *((slug, workflow_name(slug)) for slug in REGISTRY)]


def models() -> list[tuple[str, str]]:
    """Every model of the catalogue, also those that are switched off: earlier runs had them."""
    return list(ProviderModel.objects.order_by("label").values_list("label", "label").distinct())


class ReviewersField(forms.ModelMultipleChoiceField[User]):
    """People of the lab by their user names."""

    default_error_messages = {"invalid_choice": _("There is no person with this name: %(value)s.")}

    def __init__(self) -> None:
        widget = PickerOfSeveral("find-people")
        super().__init__(people(), label=_("Reviewers"), required=False, to_field_name="username", widget=widget)


class InstructionsField(forms.CharField):
    """Markdown, in which the white space at the ends counts."""

    def __init__(self, rows: int) -> None:
        widget = forms.Textarea(attrs={"rows": rows})
        super().__init__(label=_("Instructions"), required=False, strip=False, widget=widget)


class WhoseRuns(forms.BaseForm):
    """What forms of new queues share. whose: "", "lab", or a project's id. members: who reviews."""

    def offer_whose(self, user: User) -> None:
        mine = [(MINE, _("my own runs"))] if user.may_experiment else []
        lab = [(LAB, _("the lab: every reviewer"))] if queues.may_make_for_lab(user) else []
        self.projects = {str(one.pk): one for one in queues.projects_for(user)}
        whose: Any = self.fields["whose"]
        whose.choices = [*mine, *lab, *((key, one.name) for key, one in self.projects.items())]

    def for_whom(self) -> dict[str, Any]:
        """What `queues.make` takes of it."""
        given = self.cleaned_data
        members = [one.username for one in given["members"]]
        return {"project": self.projects.get(given["whose"]), "is_lab": given["whose"] == LAB, "members": members}


class QueueForm(WhoseRuns, forms.ModelForm[ReviewQueue]):
    """A new queue."""

    name = forms.CharField(label=_("Name"), required=False, strip=False)
    whose = forms.ChoiceField(label=_("For"), required=False)
    rubric = forms.ModelChoiceField(label=_("Rubric"), queryset=ReviewRubric.objects.none(), empty_label=None)
    members = ReviewersField()
    instructions = InstructionsField(rows=4)
    workflow = forms.ChoiceField(label=_("Workflow"), required=False)
    experiment = forms.ModelChoiceField(
        label=_("Experiment"),
        required=False,
        queryset=Experiment.objects.none(),
        empty_label=_("any"),
        widget=Picker("find-experiments"),
    )
    model = forms.ChoiceField(label=_("Model"), required=False)
    judge = forms.ChoiceField(label=_("Judge"), required=False)
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
        label=_("Random sample of"), required=False, min_value=1, max_value=MOST_ITEMS, help_text=_("all when empty")
    )
    seed = forms.IntegerField(label=_("Seed"), required=False, min_value=0, max_value=2**31 - 1)

    class Meta:
        model = ReviewQueue
        fields = ["name", "over", "rubric", "overlap", "lock_minutes", "is_blind", "instructions"]
        labels = {"is_blind": _("Blind: models and judge's scores are hidden until the answer is sent")}

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: Any = self.fields
        fields["rubric"].queryset = ReviewRubric.objects.visible_to(user).newest()
        fields["rubric"].label_from_instance = lambda row: f"{rubrics.words_of(row)[0]} v{row.version}"
        self.offer_whose(user)
        fields["over"].choices = [(over.value, over.label) for over in queues.FILTERED]
        fields["workflow"].choices = workflows()
        fields["experiment"].queryset = experiments_of(user)
        fields["model"].choices = fields["judge"].choices = [("", _("any")), *models()]

    def filters(self) -> dict[str, object]:
        given = {name: self.cleaned_data.get(name) for name in Filters.model_fields}
        given["experiment"] = given["experiment"] and given["experiment"].pk
        return {name: value for name, value in given.items() if value not in ("", None, [])}

    def make(self, *, by: User) -> ReviewQueue:
        """The queue that was asked for; raises what `queues.make` raises."""
        given = {name: self.cleaned_data[name] for name in self._meta.fields or ()}
        return queues.make(by=by, filters=self.filters(), **self.for_whom(), **given)


class DeskForm(forms.Form):
    """What the review desk lists. show: one of its lists."""

    show = forms.ChoiceField(choices=list(desk.LISTS.items()), widget=forms.HiddenInput)
    search = forms.CharField(label=_("Title, prompt or message"), required=False, max_length=200)
    workflow = forms.ChoiceField(label=_("Workflow"), required=False)
    owner = forms.ModelChoiceField(
        label=_("Owner"),
        required=False,
        queryset=User.objects.order_by("username"),
        to_field_name="username",
        empty_label=_("any"),
        widget=Picker("find-people"),
    )
    project = forms.ModelChoiceField(
        label=_("Project"), required=False, queryset=Project.objects.none(), empty_label=_("any")
    )
    flag = forms.ChoiceField(
        label=_("Flag"), required=False, choices=[("", _("any")), *((flag, FLAGS[flag]) for flag in REVIEWED)]
    )
    disagreement = forms.TypedChoiceField(
        label=_("Judges or reviewers disagree by"),
        required=False,
        coerce=float,
        empty_value=None,
        choices=[("", _("any")), *((f"{share / 100}", f"≥ {share} %") for share in (25, 50, 75))],
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: Any = self.fields
        fields["workflow"].choices = workflows()
        fields["project"].queryset = Project.objects.open_to(user).distinct()


class QueueChange(forms.ModelForm[ReviewQueue]):
    name = forms.CharField(label=_("Name"), required=False, strip=False)
    members = ReviewersField()
    instructions = InstructionsField(rows=6)
    field_order = ["name", "members", "lock_minutes", "instructions"]

    class Meta:
        model = ReviewQueue
        fields = ["name", "lock_minutes", "instructions"]


class RubricForm(forms.Form):
    """Beside these fields rows of scales and labels; those without a name are none. Anchors and choices: one a line,
    `value = words`.
    """

    title = forms.CharField(label=_("Title"), required=False, strip=False)
    description = forms.CharField(
        label=_("Description"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    shared = forms.BooleanField(label=_("Share with the lab"), required=False)

    def __init__(self, *args: Any, source: ReviewRubric | None, **kwargs: Any) -> None:
        """source: the rubric that the form begins with."""
        super().__init__(*args, **kwargs)
        if source:
            title, description = rubrics.words_of(source)
            is_shared = source.shared and source.owner_id is not None
            self.initial = {"title": title, "description": description, "shared": is_shared}
        values = self.data if self.is_bound else dict(_stored(source))
        self.scales = _rows(values, "scale", SCALE_PARTS, SCALE_ROWS)
        self.labels = _rows(values, "label", LABEL_PARTS, LABEL_ROWS)

    @property
    def content(self) -> dict[str, object]:
        """A rubric as the rows have it; what is no number stays text, which the rubric refuses by name."""
        scales = [
            {**_said(row, SCALE_PARTS, step="1", level="ordinal"), "anchors": dict(pairs(row["anchors"]))}
            for row in self.scales
            if row["name"] or row["title"]
        ]
        labels = [
            {
                **_said(row, ("name", "title")),
                "multiple": bool(row["multiple"]),
                "choices": [{"name": name, "title": title} for name, title in pairs(row["choices"])],
            }
            for row in self.labels
            if row["name"] or row["title"]
        ]
        return {"scales": scales, "labels": labels}


def _rows(values: Mapping[str, Any], kind: str, parts: tuple[str, ...], count: int) -> list[dict[str, str]]:
    prefixes = [f"{kind}-{number}" for number in range(count)]
    return [
        {"prefix": one, **{part: str(values.get(f"{one}-{part}", "")).strip() for part in parts}} for one in prefixes
    ]


def _said(row: Mapping[str, str], parts: tuple[str, ...], **usual: str) -> dict[str, object]:
    return {part: row[part] or usual.get(part, "") for part in parts}


def _stored(row: ReviewRubric | None) -> Iterator[tuple[str, str]]:
    """The fields of the form that say what a rubric says."""
    for number, scale in enumerate(row.scales if row else []):
        anchors = "\n".join(f"{value} = {text}" for value, text in scale["anchors"].items())
        numbers = {name: f"{scale[name]:g}" for name in ("low", "high", "step")}
        for name, text in {**scale, **numbers, "anchors": anchors}.items():
            yield f"scale-{number}-{name}", text
    for number, label in enumerate(row.labels if row else []):
        choices = "\n".join(f"{one['name']} = {one['title']}" for one in label["choices"])
        for name, text in {**label, "multiple": "on" if label["multiple"] else "", "choices": choices}.items():
            yield f"label-{number}-{name}", text
