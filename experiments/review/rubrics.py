"""Rubrics: what reviewers are asked, as a value; those that come with the platform, and the ones that people keep.

A rubric has scales with their ends and anchors, and labels with their choices. The page gives each of them a key.
"""

import json
import uuid
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

from django.db import IntegrityError, transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from accounts.errors import Conflict, Forbidden, Invalid
from experiments.engine.text import is_storable
from experiments.models import ReviewRubric
from experiments.setup.casting import complaint

if TYPE_CHECKING:
    from accounts.models import User

MOST_VALUES = 10  # of a scale: one digit each
LETTERS = "abdefghilmopqrtvwyz"  # the others do something of their own on the review page
CLOSE = 1e-9
FILES = Path(__file__).parent / "rubrics"
BUILTIN = uuid.UUID("5a4c1f0e-6a5b-4c55-9f6c-3d4f6e0c2b10")  # families of the built-in ones are derived from it
LONGEST_TITLE = 120
LONGEST_DESCRIPTION = 2000
MOST_RUBRICS = 200

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]


class RubricPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="after")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        if isinstance(value, str) and not is_storable(value):
            raise ValueError("holds characters that cannot be stored")
        return value


class Point(NamedTuple):
    """One value of a scale as the page offers it. text: how it is written, and sent. key: the key that chooses it."""

    value: float
    text: str
    anchor: str
    key: str


class Scale(RubricPart):
    """Numbers from `low` to `high` in steps. anchors: what a value means, by the value as `plain` writes it. measure:
    the judge's score that says the same; its own name when empty.
    """

    name: Name
    title: Title
    low: Annotated[float, Field(ge=-1e6, le=1e6)]
    high: Annotated[float, Field(ge=-1e6, le=1e6)]
    step: Annotated[float, Field(gt=0, le=1e6)] = 1
    level: Literal["nominal", "ordinal", "interval"] = "ordinal"
    anchors: dict[str, Words] = {}
    measure: str = Field(default="", max_length=60)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        steps = (self.high - self.low) / self.step
        if steps < 1 - CLOSE or abs(steps - round(steps)) > CLOSE or round(steps) >= MOST_VALUES:
            said = "a scale has 2 to {most} values, in whole steps from its low end to its high one"
            raise PydanticCustomError("scale_values", said, {"most": MOST_VALUES})
        if unknown := set(self.anchors) - {plain(value) for value in self.values}:
            said = "an anchor stands at no value of the scale: {value}"
            raise PydanticCustomError("anchor_nowhere", said, {"value": min(unknown)})
        return self

    @property
    def values(self) -> tuple[float, ...]:
        count = round((self.high - self.low) / self.step) + 1
        return tuple(round(self.low + place * self.step, 9) for place in range(count))

    @property
    def points(self) -> list[Point]:
        """The values with their anchors and keys: the digit itself where all are digits, or else the place from 1."""
        are_digits = all(value in range(10) for value in self.values)
        return [
            Point(value, plain(value), self.anchors.get(plain(value), ""), plain(value) if are_digits else key)
            for value, key in zip(self.values, "1234567890", strict=False)
        ]

    @property
    def judged_by(self) -> str:
        return self.measure or self.name

    @property
    def span(self) -> float:
        return self.high - self.low

    def holds(self, value: float) -> bool:
        return any(abs(value - one) < CLOSE for one in self.values)


class Choice(RubricPart):
    name: Name
    title: Title


class Label(RubricPart):
    """A question with choices: one of them, or several."""

    name: Name
    title: Title
    multiple: bool = False
    choices: Annotated[list[Choice], Field(min_length=1)]

    @property
    def names(self) -> list[str]:
        return [choice.name for choice in self.choices]


class Rubric(RubricPart):
    """What is asked of whoever reviews. Names are unique within their kind."""

    scales: Annotated[list[Scale], Field(max_length=12)] = []
    labels: Annotated[list[Label], Field(max_length=8)] = []

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.scales and not self.labels:
            raise ValueError("a rubric has a scale or a label")
        scales, labels = [scale.name for scale in self.scales], [label.name for label in self.labels]
        for names in (scales, labels, *(label.names for label in self.labels)):
            if twice := {name for name in names if names.count(name) > 1}:
                raise PydanticCustomError("named_twice", "a name stands there twice: {name}", {"name": min(twice)})
        if sum(len(label.choices) for label in self.labels) > len(LETTERS):
            said = "a rubric has at most {most} choices, as many as there are letters for them"
            raise PydanticCustomError("choices_too_many", said, {"most": len(LETTERS)})
        return self

    @property
    def keys(self) -> dict[tuple[str, str], str]:
        """The letter of each choice, by label and choice: of its own words where that letter is free."""
        free, found = list(LETTERS), {}
        for label in self.labels:
            for choice in label.choices:
                letter = next((one for one in choice.title.lower() if one in free), free[0])
                free.remove(letter)
                found[label.name, choice.name] = letter
        return found


def plain(value: float) -> str:
    """A number as forms and anchors write it: 1, 0.25, -1."""
    return f"{round(value, 9) + 0.0:.9g}"


class BuiltinRubric(Rubric):
    version: int


TITLES: dict[str, tuple[Promise, Promise]] = {  # title and description of each file
    "turn": (gettext_lazy("A turn of the arena"), gettext_lazy("Cooperation, goal deviation and deception of a side.")),
    "answer": (gettext_lazy("An answer"), gettext_lazy("Correctness, helpfulness and clarity, from 1 to 5.")),
    "judgment": (gettext_lazy("A judge's judgment"), gettext_lazy("Whether a judge's scores follow from the text.")),
    "conduct": (gettext_lazy("Conduct"), gettext_lazy("Harm, and signs of deception, as labels.")),
}


def of(row: ReviewRubric) -> Rubric:
    """The rubric that a row holds."""
    return Rubric.model_validate({"scales": row.scales, "labels": row.labels})


@cache
def builtin() -> dict[str, BuiltinRubric]:
    """What the files say, by their names, checked."""
    found = {slug: json.loads((FILES / f"{slug}.json").read_text(encoding="utf-8")) for slug in TITLES}
    return {slug: BuiltinRubric.model_validate(one) for slug, one in found.items()}


def ensure_builtin() -> None:
    """Rows for the rubrics of the files, as far as they are missing: one per version."""
    known = set(ReviewRubric.objects.filter(owner__isnull=True).values_list("family", "version"))
    for slug, content in builtin().items():
        family, version = family_of(slug), content.version
        if (family, version) not in known:
            title, description = map(str, TITLES[slug])
            words = {"title": title, "description": description, "shared": True}
            fields = {**content.model_dump(exclude={"version"}), **words}
            ReviewRubric.objects.get_or_create(family=family, version=version, defaults=fields)


def family_of(slug: str) -> uuid.UUID:
    """What the versions of a built-in rubric share."""
    return uuid.uuid5(BUILTIN, slug)


def words_of(row: ReviewRubric) -> tuple[str, str]:
    """Title and description: the built-in ones are translated."""
    if row.owner_id is None:
        for slug, (title, description) in TITLES.items():
            if row.family == family_of(slug):
                return str(title), str(description)
    return row.title, row.description


def save(*, owner: "User", title: str, content: Any, description: str = "", shared: bool = False) -> ReviewRubric:
    """The first version of a rubric of one's own. Raises Forbidden, and Invalid naming the fields."""
    if ReviewRubric.objects.filter(owner=owner, version=1).count() >= MOST_RUBRICS:
        raise Forbidden(_("You already have %(most)s rubrics.") % {"most": MOST_RUBRICS})
    return ReviewRubric.objects.create(owner=owner, shared=shared, **_checked(title, description, content))


def revise(
    rubric: ReviewRubric, *, by: "User", title: str, content: Any, description: str = "", shared: bool = False
) -> ReviewRubric:
    """A new version; the one that queues use stays as it is. Raises Forbidden, Invalid, and Conflict when
    somebody has saved this version meanwhile.
    """
    if rubric.owner_id != by.pk:
        raise Forbidden(_("Only its owner can change a rubric. Save it as one of your own instead."))
    fields = _checked(title, description, content)
    try:
        with transaction.atomic():
            return ReviewRubric.objects.create(
                family=rubric.family, version=rubric.version + 1, owner=by, shared=shared, **fields
            )
    except IntegrityError as error:
        raise Conflict(
            _("A newer version of this rubric was saved in the meantime. Nothing was overwritten.")
        ) from error


def _checked(title: str, description: str, content: Any) -> dict[str, Any]:
    errors: dict[str, list[str]] = {}
    fields: dict[str, Any] = {"title": title.strip(), "description": description.strip()}
    if not 0 < len(fields["title"]) <= LONGEST_TITLE or not is_storable(title):
        errors["title"] = [_("Enter a title of 1 to %(most)s characters.") % {"most": LONGEST_TITLE}]
    if len(fields["description"]) > LONGEST_DESCRIPTION or not is_storable(description):
        errors["description"] = [_("At most %(most)s characters fit here.") % {"most": LONGEST_DESCRIPTION}]
    if isinstance(content, dict):
        content = {name: content.get(name, []) for name in ("scales", "labels")}
    try:
        fields |= Rubric.model_validate(content).model_dump()
    except ValidationError as error:
        errors["content"] = []
        for one in error.errors():
            place = " ".join(str(part + 1) if isinstance(part, int) else part for part in one["loc"])
            said = complaint(one).removesuffix(".")
            errors["content"].append(f"{place}: {said}." if place else f"{said}.")
    if errors:
        raise Invalid(errors)
    return fields
