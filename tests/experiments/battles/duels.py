"""Datasets with outputs to be compared. Names and keys are such that a search of a page's bytes means something."""

import hashlib
import io
from typing import Any
from uuid import uuid4

from django.conf import settings
from PIL import Image as Picture
from PIL.PngImagePlugin import PngInfo

from experiments.models import Contestant, Dataset, DatasetImage, Image, Output, Sample
from leaderboard.votes import voting
from leaderboard.votes.voters import Voter, person_voter

NAMES = ("Zebrafinch-9B", "Quokkamaster-7", "Yellowtail-XL")
FIRST_KEY = 9_152_737  # ratings make room for every number up to the highest
BALLOT = f"visitor:{'a1' * 32}"


def dataset_of(owner: Any, names: tuple[str, ...] = NAMES, samples: int = 4, **fields: Any) -> Dataset:
    """Everybody has an output for every sample: texts, or pictures with modality="image"."""
    made = {"name": "Duels", "slug": "duels", "state": "ready", "visibility": "lab", **fields}
    dataset = Dataset.objects.create(owner=owner, **made)
    taken = Contestant.objects.count()
    contestants = [
        Contestant.objects.create(pk=FIRST_KEY + 977 * (taken + place), dataset=dataset, name=name)
        for place, name in enumerate(names)
    ]
    for number in range(samples):
        sample = Sample.objects.create(dataset=dataset, index=number, instruction=f"Task {number}: draw a harbour.")
        for place, contestant in enumerate(contestants):
            output(sample, contestant, number * 31 + place * 7)
    return dataset


def visitor() -> Voter:
    """Always with the same ballot, never from the same address: how much one has voted is known for a while."""
    return Voter(BALLOT, None, uuid4().hex)


def voted_on(owner: Any) -> Dataset:
    """A public dataset on which a visitor has cast three votes, and its owner two."""
    made = dataset_of(owner, visibility="public")
    for voter, choices in ((visitor(), ["first", "second", "tie"]), (person_voter(owner), ["first", "both_bad"])):
        for choice in choices:
            voting.cast(voting.offer(made, voter=voter), voter=voter, choice=choice)
    return made


def output(sample: Sample, contestant: Contestant, shade: int) -> Output:
    if sample.dataset.modality == "text":
        return Output.objects.create(sample=sample, contestant=contestant, text=f"**Answer** {shade}")
    return Output.objects.create(sample=sample, contestant=contestant, image=picture(sample.dataset, contestant, shade))


def picture(dataset: Dataset, contestant: Contestant, shade: int) -> Image:
    """A picture whose file says who made it, as files of image models do."""
    note = PngInfo()
    note.add_text("parameters", f"harbour, Model: {contestant.name}")
    written = io.BytesIO()
    Picture.new("RGB", (16, 12), (shade % 256, 90, 120)).save(written, "PNG", pnginfo=note)
    body = written.getvalue()
    sha = hashlib.sha256(body).hexdigest()
    path = settings.IMAGES_DIR / sha[:2] / sha
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    image = Image.objects.create(sha256=sha, mime="image/png", width=16, height=12, size=len(body))
    DatasetImage.objects.create(dataset=dataset, image=image)
    return image
