"""Rubrics: those that come with the platform, and the ones that people keep. What they are made of is in
`workflows.base.rubrics`.
"""

import json
import uuid
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import ValidationError

from accounts.errors import Conflict, Forbidden, Invalid
from experiments.engine.text import is_storable
from experiments.models import ReviewRubric
from experiments.setup.casting import complaint
from experiments.workflows.base.rubrics import Rubric

if TYPE_CHECKING:
    from accounts.models import User

FILES = Path(__file__).parent / "rubrics"
BUILTIN = uuid.UUID("5a4c1f0e-6a5b-4c55-9f6c-3d4f6e0c2b10")  # families of the built-in ones are derived from it
LONGEST_TITLE = 120
LONGEST_DESCRIPTION = 2000
MOST_RUBRICS = 200


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
