"""What the pages of a dataset show, read from its rows."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.http import QueryDict

from experiments.library.datasets.images import thumbnails
from experiments.library.datasets.making import may_curate, what_rests_on
from experiments.library.datasets.reasons import in_words
from experiments.models import Contestant, Dataset, Output, Sample, Upload
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

    @classmethod
    def of(cls, query: QueryDict) -> "Filter":
        """Of the address; nonsense in it is none."""
        after, search = query.get("after", ""), query.get("search", "").strip().replace("\x00", "")[:200]
        known = int(after) if after.isdecimal() and len(after) < 18 else None
        return cls(query.get("subset"), query.get("category"), search, known)

    @property
    def is_set(self) -> bool:
        return bool(self.subset is not None or self.category is not None or self.search)

    def samples(self, dataset: Dataset) -> QuerySet[Sample]:
        samples = dataset.samples.all()
        if self.subset is not None:
            samples = samples.filter(subset=self.subset.replace("\x00", ""))
        if self.category is not None:
            samples = samples.filter(category=self.category.replace("\x00", ""))
        if self.search:
            samples = samples.filter(instruction__icontains=self.search)
        before = dataset.samples.filter(pk=self.after).first() if self.after else None
        return samples.filter(_beyond(before, "gt")) if before else samples


def dataset_page(dataset: Dataset, user: Any, query: QueryDict) -> dict[str, object]:
    """All that the page of a dataset that is ready shows."""
    chosen = Filter.of(query)
    found = list(chosen.samples(dataset)[: SAMPLES_SHOWN + 1])
    samples = found[:SAMPLES_SHOWN]
    following = query.copy()
    following["after"] = str(samples[-1].pk) if samples else ""
    return {
        "sample_count": dataset.samples.count(),
        "subsets": _counted(dataset, "subset"),
        "categories": _counted(dataset, "category"),
        "shares": shares(dataset),
        "boards": dataset.boards.select_related("ladder").order_by("pk"),
        "warnings": in_words(dataset.warnings),
        "chosen": chosen,
        "samples": samples,
        "thumbs": thumbnails(dataset, samples),
        "next_address": f"?{following.urlencode()}#samples" if len(found) > len(samples) else "",
        "rests": what_rests_on(dataset) if dataset.owner_id == user.pk else "",
        "may_curate": may_curate(user, dataset),
        "may_see_voters": dataset.boards.filter(kind="people").exists() and may_void(dataset, user),
        "visibilities": Dataset.Visibility.choices,
    }


def sample_page(sample: Sample) -> dict[str, object]:
    """Every contestant by name, with its output where there is one; the samples before and after it."""
    made: dict[int, Output] = {output.contestant_id: output for output in sample.outputs.select_related("image")}
    others = sample.dataset.samples
    return {
        "dataset": sample.dataset,
        "sample": sample,
        "outputs": [(contestant, made.get(contestant.pk)) for contestant in sample.dataset.contestants.all()],
        "before": others.filter(_beyond(sample, "lt")).order_by("-subset", "-index").first(),
        "after": others.filter(_beyond(sample, "gt")).order_by("subset", "index").first(),
    }


def shares(dataset: Dataset) -> list[Share]:
    wanted = max(1, dataset.samples.count())
    contestants = dataset.contestants.annotate(made=Count("outputs")).order_by("name")
    return [Share(one, one.made, one.made * 100 // wanted) for one in contestants]


def listed(datasets: list[Dataset]) -> list[tuple[Dataset, dict[str, int]]]:
    """Each with how many samples and contestants it has."""

    def counts(rows: QuerySet[Any]) -> dict[Any, int]:
        return dict(rows.filter(dataset__in=datasets).order_by().values_list("dataset").annotate(Count("pk")))

    samples, cast = counts(Sample.objects.all()), counts(Contestant.objects.all())
    return [(one, {"samples": samples.get(one.pk, 0), "cast": cast.get(one.pk, 0)}) for one in datasets]


def sent_outputs(dataset: Dataset) -> list[dict[str, Any]]:
    """What was sent as outputs lately, with what became of it."""
    sent = dataset.uploads.filter(kind=Upload.Kind.OUTPUTS).exclude(state=Upload.State.KEPT)[:10]
    return [
        {
            "upload": upload,
            "new": sorted(upload.found.get("new", {}).items()),
            "warnings": in_words(upload.found.get("warnings", [])),
            "eta": upload.seconds_left,
        }
        for upload in sent
    ]


def _beyond(sample: Sample, side: str) -> Q:
    """Those after it in the dataset's order (gt), or before it (lt)."""
    same = Q(subset=sample.subset, **{f"index__{side}": sample.index})
    return Q(**{f"subset__{side}": sample.subset}) | same


def _counted(dataset: Dataset, field: str) -> list[tuple[str, int]]:
    """Values with how many samples have them; nothing when all have none."""
    found = list(dataset.samples.order_by(field).values_list(field).annotate(Count("pk"))[:LONGEST_LIST])
    return [] if len(found) == 1 and not found[0][0] else found
