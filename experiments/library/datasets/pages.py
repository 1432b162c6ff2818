"""What the pages of a dataset show, read from its rows."""

from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from experiments.library.datasets.making import may_curate
from experiments.library.datasets.reasons import warning
from experiments.library.datasets.removing import what_rests_on
from experiments.library.datasets.thumbnails import thumbnails
from experiments.models import Contestant, Dataset, Output, Sample, Upload
from experiments.tasks import clock
from experiments.workflows.battles.campaign.voiding import may_void

SAMPLES_SHOWN = 50
LONGEST_LIST = 200


class Share(NamedTuple):
    """A contestant with how many of the samples it has made something of. percent: rounded down."""

    contestant: Contestant
    made: int
    percent: int


@dataclass(frozen=True, slots=True)
class Filter:
    """Which samples are shown. after: key of the sample before the first one."""

    subset: str | None
    category: str | None
    search: str
    after: int | None

    @property
    def is_set(self) -> bool:
        return bool(self.subset is not None or self.category is not None or self.search)


def dataset_page(dataset: Dataset, user: Any, chosen: Filter) -> dict[str, object]:
    """All that the page of a dataset that is ready shows."""
    samples = list(filtered(dataset, chosen)[: SAMPLES_SHOWN + 1])
    return {
        "sample_count": dataset.samples.count(),
        "subsets": _counted(dataset, "subset"),
        "categories": _counted(dataset, "category"),
        "shares": shares(dataset),
        "boards": dataset.boards.select_related("ladder").order_by("pk"),
        "warnings": [said for told in dataset.warnings if (said := warning(told))],
        "chosen": chosen,
        "samples": samples[:SAMPLES_SHOWN],
        "thumbs": thumbnails(dataset, samples[:SAMPLES_SHOWN]),
        "next_after": samples[SAMPLES_SHOWN - 1].pk if len(samples) > SAMPLES_SHOWN else None,
        "rests": what_rests_on(dataset) if dataset.owner_id == user.pk else "",
        "may_curate": may_curate(user, dataset),
        "may_see_voters": dataset.boards.filter(kind="people").exists() and may_void(dataset, user),
        "visibilities": Dataset.Visibility.choices,
    }


def chosen_filter(query: Any) -> Filter:
    """Of the address; nonsense in it is none."""
    after = query.get("after", "")
    return Filter(
        query.get("subset"),
        query.get("category"),
        query.get("search", "").strip().replace("\x00", "")[:200],
        int(after) if after.isdecimal() and len(after) < 18 else None,
    )


def filtered(dataset: Dataset, chosen: Filter) -> QuerySet[Sample]:
    samples = dataset.samples.all()
    if chosen.subset is not None:
        samples = samples.filter(subset=chosen.subset.replace("\x00", ""))
    if chosen.category is not None:
        samples = samples.filter(category=chosen.category.replace("\x00", ""))
    if chosen.search:
        samples = samples.filter(instruction__icontains=chosen.search)
    if before := dataset.samples.filter(pk=chosen.after).first() if chosen.after else None:
        samples = samples.filter(Q(subset__gt=before.subset) | Q(subset=before.subset, index__gt=before.index))
    return samples


def neighbours(sample: Sample) -> dict[str, Sample | None]:
    """The samples before and after it in the dataset's order."""
    others = sample.dataset.samples
    later = Q(subset__gt=sample.subset) | Q(subset=sample.subset, index__gt=sample.index)
    earlier = Q(subset__lt=sample.subset) | Q(subset=sample.subset, index__lt=sample.index)
    return {
        "before": others.filter(earlier).order_by("-subset", "-index").first(),
        "after": others.filter(later).order_by("subset", "index").first(),
    }


def shown_outputs(sample: Sample) -> list[tuple[Contestant, Output | None]]:
    """Every contestant by name, with its output where there is one."""
    made = {output.contestant_id: output for output in sample.outputs.select_related("image")}
    return [(contestant, made.get(contestant.pk)) for contestant in sample.dataset.contestants.all()]


def shares(dataset: Dataset) -> list[Share]:
    wanted = max(1, dataset.samples.count())
    contestants = dataset.contestants.annotate(made=Count("outputs")).order_by("name")
    return [Share(one, one.made, one.made * 100 // wanted) for one in contestants]


def listed(datasets: list[Dataset]) -> list[tuple[Dataset, dict[str, int]]]:
    """Each with how many samples and contestants it has."""
    counts: dict[UUID, dict[str, int]] = {dataset.pk: {"samples": 0, "cast": 0} for dataset in datasets}
    for name, rows in (("samples", Sample.objects), ("cast", Contestant.objects)):
        found = rows.filter(dataset__in=datasets).order_by().values_list("dataset").annotate(Count("pk"))
        for pk, number in found:
            counts[pk][name] = number
    return [(dataset, counts[dataset.pk]) for dataset in datasets]


def reading_page(dataset: Dataset) -> dict[str, object]:
    """How far the reading is. eta: seconds that are left, None while nothing can be said."""
    upload = dataset.uploads.filter(kind=Upload.Kind.SAMPLES).first()
    return {"upload": upload, "eta": seconds_left(upload)}


def seconds_left(upload: Upload | None) -> int | None:
    if upload is None or not upload.started or upload.state != Upload.State.READING or upload.progress <= 0:
        return None
    so_far = (clock.now() - upload.started).total_seconds()
    return max(1, round(so_far / upload.progress * (1 - upload.progress)))


def told_uploads(dataset: Dataset, user: Any) -> list[dict[str, Any]]:
    """What was sent as outputs lately, with what became of it, for whoever may add outputs."""
    sent = dataset.uploads.filter(kind=Upload.Kind.OUTPUTS).exclude(state=Upload.State.KEPT)[:10]
    return [
        {
            "upload": upload,
            "new": sorted(upload.found.get("new", {}).items()),
            "warnings": [said for told in upload.found.get("warnings", []) if (said := warning(told))],
            "eta": seconds_left(upload),
        }
        for upload in sent
    ]


def _counted(dataset: Dataset, field: str) -> list[tuple[str, int]]:
    """Values with how many samples have them; nothing when all have none."""
    rows = dataset.samples.order_by(field).values_list(field).annotate(Count("pk"))[:LONGEST_LIST]
    found = list(rows)
    return [] if len(found) == 1 and not found[0][0] else found
