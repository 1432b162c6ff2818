"""Stored material becomes parts of a prompt just before it is sent: texts from their rows, pictures from their files.

A picture is sent as it is when every provider takes it; else it is made smaller, and a JPEG or PNG. Raises NoMaterial
when something is missing or cannot be read: nothing is sent then.
"""

import base64
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from uuid import UUID

from accounts.errors import Unavailable
from experiments.engine import excerpts
from experiments.gateway.errors import NoMaterial
from experiments.gateway.types import ChatMessage, ImagePart
from experiments.models import Image, Output, Sample, shared_files
from experiments.workflows.base.prompts import without_token
from experiments.workflows.base.steps import Excerpt, Prompt, Stored

LONGEST_SIDE = 2048  # pixels
MOST_BYTES = 5_000_000
TAKEN = ("image/png", "image/jpeg", "image/webp")
KEPT = 48  # pictures that are held encoded: both orders of a battle show the same ones


def messages(
    prompts: Sequence[Prompt], owner_id: int | None = None, run_id: UUID | str = ""
) -> tuple[ChatMessage, ...]:
    """The prompts as the gateway takes them. At most three queries for samples, and none when nothing is stored.
    owner_id: in whose name transcripts are read. run_id: the run that asks.
    """
    stored = [part for prompt in prompts for part in prompt.parts if isinstance(part, Stored)]
    if not stored:
        return tuple(_plain(prompt) for prompt in prompts)
    material = _material(frozenset(stored), owner_id, run_id, int(time.monotonic()))
    return tuple(
        ChatMessage(prompt.role, parts=tuple(_parts(prompt, material))) if prompt.parts else _plain(prompt)
        for prompt in prompts
    )


def _plain(prompt: Prompt) -> ChatMessage:
    if prompt.parts:
        return ChatMessage(prompt.role, "".join(part for part in prompt.parts if isinstance(part, str)))
    return ChatMessage(prompt.role, prompt.content)


def _parts(prompt: Prompt, material: "_Material") -> Iterable[str | ImagePart]:
    for part in prompt.parts:
        if isinstance(part, str):
            yield part
        else:
            for shown in material.of(part):
                yield without_token(shown, prompt.token) if isinstance(shown, str) and prompt.token else shown


@lru_cache(maxsize=8)
def _material(stored: frozenset[Stored], owner_id: int | None, run_id: UUID | str, second: int) -> "_Material":
    """Both orders of a battle show the same: the rows are read once a second at most."""
    return _Material(list(stored), owner_id, run_id)


class _Material:
    """The rows that some stored parts stand for."""

    def __init__(self, stored: Sequence[Stored], owner_id: int | None, run_id: UUID | str) -> None:
        of_transcripts = [part for part in stored if isinstance(part, Excerpt)]
        self._excerpts = {part: excerpts.text_of(part, owner_id, run_id) for part in of_transcripts}
        about_samples = {part.sample for part in stored if part.what in ("instruction", "images")}
        outputs = [part for part in stored if part.what == "output"]
        self._samples = Sample.objects.only("instruction", "images").in_bulk(about_samples) if about_samples else {}
        made = Output.objects.filter(
            contestant__in={part.contestant for part in outputs}, sample__in={part.sample for part in outputs}
        )
        made = made.select_related("image") if outputs else made.none()
        self._outputs: dict[tuple[int, int | None], Output] = {(row.sample_id, row.contestant_id): row for row in made}
        shown = {part.sample for part in stored if part.what == "images"}
        hashes = {sha for pk, sample in self._samples.items() if pk in shown for sha in sample.images}
        self._images = Image.objects.in_bulk(hashes) if hashes else {}

    def of(self, part: Stored) -> list[str | ImagePart]:
        if isinstance(part, Excerpt):
            return [self._excerpts[part]]
        if part.what == "output":
            output = self._outputs.get((part.sample, part.contestant))
            if output is None:
                raise NoMaterial("A contestant's output is missing: upload it, then ask again.")
            return [image_part(output.image) if output.image else output.text]
        sample = self._samples.get(part.sample)
        if sample is None:
            raise NoMaterial("The sample is gone: it was removed from its dataset.")
        if part.what == "instruction":
            return [sample.instruction]
        if not self._images.keys() >= set(sample.images):
            raise NoMaterial("A picture of the sample is missing: upload the dataset again.")
        return [image_part(self._images[sha]) for sha in sample.images]


def image_part(image: Image) -> ImagePart:
    """The picture as a data URI that providers accept; `sha256:…` stands for it in the ledger."""
    is_fine = image.mime in TAKEN and image.size <= MOST_BYTES and max(image.width, image.height) <= LONGEST_SIDE
    try:
        url, pixels = _encoded(image.sha256, str(shared_files.here(image.path)), image.mime if is_fine else "")
    except Unavailable as away:
        raise NoMaterial(str(away)) from away
    except (OSError, ValueError, SyntaxError) as error:
        raise NoMaterial(f"A picture cannot be read ({type(error).__name__}): upload it again.") from error
    return ImagePart(url, f"sha256:{image.sha256}", pixels or image.width * image.height)


@lru_cache(maxsize=KEPT)
def _encoded(sha: str, path: str, mime: str) -> tuple[str, int]:
    """The data URI, and the number of pixels where it was made smaller. mime: "" for a picture to be made anew."""
    data, pixels = Path(path).read_bytes(), 0
    if not mime:  # what does this takes long to load, and most pictures are sent as they are
        reduced = import_module("experiments.engine.pictures").reduced
        mime, data, pixels = reduced(data, longest_side=LONGEST_SIDE, most_bytes=MOST_BYTES)
    return f"data:{mime};base64,{base64.b64encode(data).decode()}", pixels
