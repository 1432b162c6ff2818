"""Two small datasets for the demonstration: answers to questions, and pictures drawn with more or less care."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction

from experiments.library.datasets import images
from experiments.library.datasets.demo_answers import ANSWERERS, QUESTIONS, answer
from experiments.library.datasets.demo_pictures import PAINTERS, SCENES, draw, draw_input
from experiments.models import Contestant, Dataset, Output, Sample

if TYPE_CHECKING:
    from accounts.models import User

TEXT, IMAGES = "demo-answers", "demo-pictures"
VERSION = "demo_20260101"


class _Plan(NamedTuple):
    """A dataset to be made, and what fills it."""

    slug: str
    name: str
    description: str
    modality: str
    fill: Callable[[Dataset], None]


def make_text(owner: "User") -> Dataset:
    """Twelve questions, each answered by four contestants. The one that is there already, if it is."""
    described = "Twelve everyday questions. The contestants are made up: they know more or less, and say it."
    return _once(owner, _Plan(TEXT, "Demonstration: answers", described, Dataset.Modality.TEXT, _fill_answers))


def make_images(owner: "User") -> Dataset:
    """Twelve instructions, each drawn by four contestants. The one that is there already, if it is."""
    described = "Twelve simple scenes. The contestants are made up: a program drew them, with more or less care."
    return _once(owner, _Plan(IMAGES, "Demonstration: pictures", described, Dataset.Modality.IMAGE, _fill_pictures))


def _once(owner: "User", plan: _Plan) -> Dataset:
    if known := Dataset.objects.filter(slug=plan.slug).first():
        return known
    with transaction.atomic():
        dataset, is_new = Dataset.objects.get_or_create(
            slug=plan.slug,
            defaults={
                "owner": owner,
                "name": plan.name,
                "description": plan.description,
                "modality": plan.modality,
                "visibility": Dataset.Visibility.PUBLIC,
                "state": Dataset.State.READY,
                "source": "manage.py demo",
                "progress": 1,
            },
        )
        if is_new:
            plan.fill(dataset)
    return dataset


def _fill_answers(dataset: Dataset) -> None:
    for index, question in enumerate(QUESTIONS):
        sample = Sample.objects.create(
            dataset=dataset, index=index, category=question.category, instruction=question.text, source="demonstration"
        )
        _outputs(
            sample, (Output(text=answer(question, name), contestant=who) for name, who in _cast(dataset, ANSWERERS))
        )


def _fill_pictures(dataset: Dataset) -> None:
    for index, scene in enumerate(SCENES):
        given = [images.store(draw_input(scene)).pk] if scene.is_edit else []
        sample = Sample.objects.create(
            dataset=dataset,
            index=index,
            category=scene.category,
            instruction=scene.instruction,
            images=given,
            source="demonstration",
        )
        drawn = [(images.store(draw(scene, name, index)), who) for name, who in _cast(dataset, PAINTERS)]
        images.belong(dataset, [*given, *(image.pk for image, _who in drawn)])
        _outputs(sample, (Output(image=image, contestant=who) for image, who in drawn))


def _cast(dataset: Dataset, names: Iterable[str]) -> list[tuple[str, Contestant]]:
    return [
        (name, Contestant.objects.get_or_create(dataset=dataset, name=name, defaults={"version": VERSION})[0])
        for name in names
    ]


def _outputs(sample: Sample, outputs: Iterable[Output]) -> None:
    rows = list(outputs)
    for output in rows:
        output.sample = sample
    Output.objects.bulk_create(rows)
