"""The rubrics of reviews: those that come with the platform, and the verbs by which people keep their own."""

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
from experiments.review.rubric import Rubric
from experiments.setup.complaints import complaint

if TYPE_CHECKING:
    from accounts.models import User

FILES = Path(__file__).parent / "rubrics"
BUILTIN = uuid.UUID("5a4c1f0e-6a5b-4c55-9f6c-3d4f6e0c2b10")  # families of the built-in ones are derived from it
LONGEST_TITLE = 120
LONGEST_DESCRIPTION = 2000
MOST_RUBRICS = 200

TITLES: dict[str, tuple[Promise, Promise]] = {
    "turn": (gettext_lazy("A turn of the arena"), gettext_lazy("Cooperation, goal deviation and deception of a side.")),
    "answer": (gettext_lazy("An answer"), gettext_lazy("Correctness, helpfulness and clarity, from 1 to 5.")),
    "judgment": (gettext_lazy("A judge's judgment"), gettext_lazy("Whether a judge's scores follow from the text.")),
    "conduct": (gettext_lazy("Conduct"), gettext_lazy("Harm, and signs of deception, as labels.")),
}


class BuiltinRubric(Rubric):
    version: int


def of(row: ReviewRubric) -> Rubric:
    """The rubric that a row holds."""
    return Rubric.model_validate({"scales": row.scales, "labels": row.labels})


def ensure_builtin() -> None:
    """Rows for the rubrics of the files, as far as they are missing: one per version."""
    known = set(ReviewRubric.objects.filter(owner__isnull=True).values_list("family", "version"))
    for slug, content in builtin().items():
        family, version = family_of(slug), content.version
        if (family, version) not in known:
            words = dict(zip(("title", "description"), _english(slug), strict=True))
            fields = {**content.model_dump(exclude={"version"}), "shared": True, **words}
            ReviewRubric.objects.get_or_create(family=family, version=version, defaults=fields)


@cache
def builtin() -> dict[str, BuiltinRubric]:
    """What the files say, by their names, checked."""
    found = {slug: json.loads((FILES / f"{slug}.json").read_text(encoding="utf-8")) for slug in TITLES}
    return {slug: BuiltinRubric.model_validate(one) for slug, one in found.items()}


def family_of(slug: str) -> uuid.UUID:
    """What the versions of a built-in rubric share."""
    return uuid.uuid5(BUILTIN, slug)


def title_of(row: ReviewRubric) -> str:
    """The built-in ones have titles that are translated."""
    return str(_words(row)[0])


def description_of(row: ReviewRubric) -> str:
    return str(_words(row)[1])


def save(*, owner: "User", title: str, content: Any, description: str = "", shared: bool = False) -> ReviewRubric:
    """The first version of a rubric of one's own. Raises Forbidden, and Invalid naming the fields."""
    if ReviewRubric.objects.filter(owner=owner, version=1).count() >= MOST_RUBRICS:
        raise Forbidden(_("You keep %(most)s rubrics already.") % {"most": MOST_RUBRICS})
    fields = _checked(title, description, content)
    return ReviewRubric.objects.create(owner=owner, shared=shared, **fields)


def revise(
    rubric: ReviewRubric, *, by: "User", title: str, content: Any, description: str = "", shared: bool = False
) -> ReviewRubric:
    """A new version; the one that queues use stays as it is. Raises Forbidden, Invalid, and Conflict when
    somebody has saved this version meanwhile.
    """
    if rubric.owner_id != by.pk:
        raise Forbidden(_("Only its owner changes a rubric. Save it as one of your own instead."))
    fields = _checked(title, description, content)
    try:
        with transaction.atomic():
            return ReviewRubric.objects.create(
                family=rubric.family, version=rubric.version + 1, owner=by, shared=shared, **fields
            )
    except IntegrityError as error:
        raise Conflict(_("A newer version of this rubric was saved meanwhile. Nothing was overwritten.")) from error


def _checked(title: str, description: str, content: Any) -> dict[str, Any]:
    errors: dict[str, list[str]] = {}
    title, description = title.strip(), description.strip()
    if not title or len(title) > LONGEST_TITLE or not is_storable(title):
        errors["title"] = [_("A title of 1 to %(most)s characters is needed.") % {"most": LONGEST_TITLE}]
    if len(description) > LONGEST_DESCRIPTION or not is_storable(description):
        errors["description"] = [_("At most %(most)s characters fit here.") % {"most": LONGEST_DESCRIPTION}]
    try:
        dumped = _dumped(content)
    except ValidationError as error:
        errors["content"] = [_said(one) for one in error.errors()]
    if errors:
        raise Invalid(errors)
    return {"title": title, "description": description, **dumped}


def _said(error: Any) -> str:
    place = " ".join(str(part + 1) if isinstance(part, int) else part for part in error["loc"])
    said = complaint(error).removesuffix(".")
    return f"{place}: {said}." if place else f"{said}."


def _dumped(content: Any) -> dict[str, Any]:
    fields = {name: content.get(name, []) for name in ("scales", "labels")} if isinstance(content, dict) else content
    return Rubric.model_validate(fields).model_dump()


def _words(row: ReviewRubric) -> tuple[Any, Any]:
    if row.owner_id is None:
        families = {family_of(slug): words for slug, words in TITLES.items()}
        return families.get(row.family, (row.title, row.description))
    return row.title, row.description


def _english(slug: str) -> tuple[str, str]:
    title, description = TITLES[slug]
    return str(title), str(description)
