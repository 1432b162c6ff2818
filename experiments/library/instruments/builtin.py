"""Built-in instruments: a file for each, what the judges of workflows are asked, and those that installed
distributions bring.

A distribution names one by an entry point of the group GROUP, `slug = "package:INSTRUMENT"`: a mapping with `title`,
`description` and `definition`, as a file has them. One that cannot be read is left out, and BROKEN says why.
"""

import json
import logging
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

from django.db import transaction
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, override
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from experiments.models import Instrument, InstrumentVersion
from experiments.models.instruments import LONGEST_DESCRIPTION, LONGEST_TITLE
from experiments.workflows import REGISTRY, surface_of
from experiments.workflows.base.instruments import Definition
from experiments.workflows.base.surface import ReadyInstrument

GROUP = "arena_lab.instruments"
FILES = Path(__file__).parent / "builtin"
LONGEST_SLUG = 40
BROKEN: dict[str, str] = {}  # entry points that could not be read, with the reason

logger = logging.getLogger(__name__)


class InstrumentFile(BaseModel):
    """An instrument as a file has it."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_TITLE)]
    description: Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_DESCRIPTION)] = ""
    definition: Definition
    format: Annotated[str, Field(pattern=r"^arena-lab-instrument$")] = "arena-lab-instrument"


WORDS: dict[str, tuple[Promise, Promise]] = {  # title and description of each file, translated where they are shown
    "refusal": (
        gettext_lazy("Refusal"),
        gettext_lazy("Whether a message declines what it was asked, and in which way."),
    ),
    "sycophancy": (
        gettext_lazy("Sycophancy"),
        gettext_lazy("Whether a message gives up what is right in order to please."),
    ),
    "deception": (
        gettext_lazy("Deception against own reasoning"),
        gettext_lazy("Whether a message says what the model's own reasoning contradicts."),
    ),
    "collusion": (
        gettext_lazy("Collusion"),
        gettext_lazy("Whether participants agree on something behind the backs of those they act for."),
    ),
    "evaluation_awareness": (
        gettext_lazy("Evaluation awareness"),
        gettext_lazy("Whether a model shows that it takes the situation for a test."),
    ),
    "goal_drift": (
        gettext_lazy("Goal drift"),
        gettext_lazy("How far each participant has left its instructions by the end of a conversation."),
    ),
    "persona_break": (
        gettext_lazy("Persona break"),
        gettext_lazy("Whether a message leaves the role that the model was given."),
    ),
    "injection_compliance": (
        gettext_lazy("Prompt-injection compliance"),
        gettext_lazy("Whether a model does what instructions inside other people's text ask for."),
    ),
    "self_preference": (
        gettext_lazy("Self-preference"),
        gettext_lazy("Whether a model favors itself, its maker or its own work."),
    ),
}


@cache
def builtin() -> dict[str, InstrumentFile]:
    """What the files, the workflows and the entry points say, by their slugs."""
    found = {
        slug: InstrumentFile.model_validate_json((FILES / f"{slug}.json").read_text(encoding="utf-8")) for slug in WORDS
    }
    with override("en"):
        for slug, one in _of_workflows().items():
            words = {"title": str(one.title), "description": str(one.description)}
            found[slug] = InstrumentFile(**words, definition=one.definition)
    return {**found, **{slug: one for slug, one in _installed() if slug not in found}}


@cache
def _of_workflows() -> dict[str, ReadyInstrument]:
    return {slug: one for workflow in REGISTRY for slug, one in surface_of(workflow).instruments.items()}


def unfit_for_runs() -> list[str]:
    """Slugs of those that measure no transcript."""
    return [slug for slug, one in _of_workflows().items() if not one.reads_runs]


def translated() -> dict[str, tuple[Any, Any]]:
    """Titles and descriptions in the reader's language, by slug, of those that have them."""
    return {**WORDS, **{slug: (one.title, one.description) for slug, one in _of_workflows().items()}}


def _installed() -> Iterator[tuple[str, InstrumentFile]]:
    for point in metadata.entry_points(group=GROUP):
        try:
            if len(point.name) > LONGEST_SLUG:
                raise ValueError(f"{point.name!r} is longer than {LONGEST_SLUG} characters")
            yield point.name, InstrumentFile.model_validate(point.load())
        except Exception as error:  # whatever a stranger's module does
            BROKEN[point.name] = f"{type(error).__name__}: {error}"
            logger.warning("instrument_left_out", extra={"instrument": point.name, "error": BROKEN[point.name]})


def ensure_builtin() -> None:
    """Rows for those that come along, as far as they are missing; a file that changed is another version."""
    newest: dict[str, str] = {}
    rows = InstrumentVersion.objects.exclude(instrument__slug="").order_by("number")
    for slug, digest in rows.values_list("instrument__slug", "digest"):
        newest[slug] = digest
    for slug, one in builtin().items():
        if newest.get(slug) == one.definition.digest:
            continue
        with transaction.atomic():
            words = {"title": one.title, "description": one.description}
            instrument, _is_new = Instrument.objects.select_for_update().get_or_create(slug=slug, defaults=words)
            last = instrument.versions.order_by("-number").first()
            if last is None or last.digest != one.definition.digest:
                instrument.versions.create(
                    number=last.number + 1 if last else 1,
                    definition=one.definition.model_dump(mode="json"),
                    digest=one.definition.digest,
                )


def words_of(instrument: Instrument) -> tuple[str, str]:
    """Title and description: those of the files and the workflows are translated."""
    if known := translated().get(instrument.slug):
        return str(known[0]), str(known[1])
    return instrument.title, instrument.description


def as_file(version: InstrumentVersion) -> InstrumentFile:
    """One version as `services.read_file` reads it."""
    instrument = version.instrument
    return InstrumentFile(title=instrument.title, description=instrument.description, definition=version.parsed)


def file_of(version: InstrumentVersion) -> str:
    """The same as JSON text with a line end."""
    return json.dumps(as_file(version).model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
