"""Two small datasets for the demonstration: answers to questions, and pictures drawn with more or less care."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction

from experiments.library.datasets import images
from experiments.library.datasets.demo_pictures import PAINTERS, SCENES, draw, draw_input
from experiments.models import Contestant, Dataset, Output, Sample

if TYPE_CHECKING:
    from accounts.models import User

ANSWERS = Path(__file__).parents[1] / "files" / "demonstration" / "answers.json"
ANSWERERS = ("maple-large", "maple-small", "pebble", "drizzle")
TEXT, IMAGES = "demo-answers", "demo-pictures"
VERSION = "demo_20260101"


def make_text(owner: "User") -> Dataset:
    """Twelve questions, each answered by four contestants. The one that is there already, if it is."""
    described = "Twelve everyday questions. The contestants are made up: they know more or less, and say it."
    return _once(owner, TEXT, _fill_answers, "Demonstration: answers", described, Dataset.Modality.TEXT)


def make_images(owner: "User") -> Dataset:
    """Twelve instructions, each drawn by four contestants. The one that is there already, if it is."""
    described = "Twelve simple scenes. The contestants are made up: a program drew them, with more or less care."
    return _once(owner, IMAGES, _fill_pictures, "Demonstration: pictures", described, Dataset.Modality.IMAGE)


def _once(
    owner: "User", slug: str, fill: Callable[[Dataset], None], name: str, description: str, modality: str
) -> Dataset:
    if known := Dataset.objects.filter(slug=slug).first():
        return known
    fields = {"owner": owner, "name": name, "description": description, "modality": modality, "progress": 1}
    fields |= {"visibility": Dataset.Visibility.PUBLIC, "state": Dataset.State.READY, "source": "manage.py demo"}
    with transaction.atomic():
        dataset, is_new = Dataset.objects.get_or_create(slug=slug, defaults=fields)
        if is_new:
            fill(dataset)
    return dataset


def _fill_answers(dataset: Dataset) -> None:
    cast = _cast(dataset, ANSWERERS)
    for index, question in enumerate(json.loads(ANSWERS.read_text(encoding="utf-8"))):
        known = {"category": question["category"], "instruction": question["text"], "source": "demonstration"}
        sample = Sample.objects.create(dataset=dataset, index=index, **known)
        answers = [Output(sample=sample, text=_answer(question, who.name), contestant=who) for who in cast]
        Output.objects.bulk_create(answers)


def _answer(question: dict[str, Any], name: str) -> str:
    """All that there is to say and how it hangs together; the main part; one fact; or next to nothing."""
    first, second, third, fourth = question["facts"]
    return {
        "maple-large": f"{first} {second}\n\n- {third}\n- {fourth}\n\nIn short: {first[0].lower()}{first[1:]}",
        "maple-small": f"{first} {second} {third}",
        "pebble": str(first),
        "drizzle": str(question["vague"]),
    }[name]


def _fill_pictures(dataset: Dataset) -> None:
    cast = _cast(dataset, PAINTERS)
    for index, scene in enumerate(SCENES):
        given = [images.store(draw_input(scene)).pk] if scene.is_edit else []
        known = {"category": scene.category, "instruction": scene.instruction, "source": "demonstration"}
        sample = Sample.objects.create(dataset=dataset, index=index, images=given, **known)
        drawn = [
            Output(sample=sample, image=images.store(draw(scene, who.name, index)), contestant=who) for who in cast
        ]
        images.belong(dataset, [*given, *(str(output.image_id) for output in drawn)])
        Output.objects.bulk_create(drawn)


def _cast(dataset: Dataset, names: Iterable[str]) -> list[Contestant]:
    joined = {"version": VERSION}
    return [Contestant.objects.get_or_create(dataset=dataset, name=name, defaults=joined)[0] for name in names]
