"""Small pictures that say which sample it is: those given with it or, where there are none, what was made of it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.models import Contestant, Dataset, Output, Sample

MOST = 4  # of one sample


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """contestant: whose picture it is, None for one that was given with the sample."""

    sha256: str
    contestant: Contestant | None = None


def thumbnails(dataset: Dataset, samples: Sequence[Sample]) -> dict[int, list[Thumbnail]]:
    """By the key of the sample; a sample without any picture is left out."""
    found: dict[int, list[Thumbnail]] = defaultdict(list)
    for sample in samples:
        found[sample.pk] += [Thumbnail(sha) for sha in sample.images[:MOST]]
    without = [sample.pk for sample in samples if not sample.images]
    if dataset.modality == Dataset.Modality.IMAGE and without:
        first = list(dataset.contestants.order_by("name")[:MOST])
        made = Output.objects.filter(sample__in=without, contestant__in=first, image__isnull=False)
        for output in made.defer("text").select_related("contestant").order_by("contestant__name"):
            found[output.sample_id].append(Thumbnail(str(output.image_id), output.contestant))
    return {pk: thumbs for pk, thumbs in found.items() if thumbs}
