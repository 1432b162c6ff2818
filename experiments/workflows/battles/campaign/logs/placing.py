"""Which sample of a dataset a log means, and which contestants: found, and made where that may be."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.utils.translation import gettext as _

from experiments.models import Contestant, Dataset, Sample
from experiments.workflows.battles.campaign.logs.records import LARGEST_INDEX, Malformed, Record, Task

MADE_FROM = {"made_from": "battles"}  # the `columns` of a dataset that was made from a log: its samples come with it
MOST_CONTESTANTS = 2000
MOST_RECENT = 20_000  # tasks whose samples are remembered
SLOTS = 8  # numbers that a question may have; the chance that a million questions fill all of one is nil
QUESTION = "question_id"
Place = tuple[str, int]  # subset and number


class Samples:
    """The samples of a dataset, found by what a log calls them."""

    def __init__(self, dataset: Dataset, subset: str | None = None, *, is_check: bool = False) -> None:
        """subset: of logs that name none. is_check: samples that are missing are not written."""
        self._dataset, self._is_open, self._is_check = dataset, dataset.columns == MADE_FROM, is_check
        found = dataset.samples.order_by("subset").values_list("subset", flat=True).distinct()
        self._subsets = set(found[:1000])
        self._otherwise = subset
        self._missing_places: set[Place] = set()
        self._recent: dict[Task, Sample | Malformed] = {}
        self.made = 0

    def forget(self) -> None:
        """What was found is not there any more."""
        self._recent.clear()

    def found(self, tasks: Iterable[Task]) -> dict[Task, Sample | Malformed]:
        """Each task's sample, or why there is none. A dataset that was made from a log gets the samples it lacks."""
        asked = dict.fromkeys(tasks)
        if len(self._recent) > MOST_RECENT:
            self.forget()
        self._recent |= self._sought([task for task in asked if task not in self._recent])
        return self._recent

    def _sought(self, wanted: Sequence[Task]) -> dict[Task, Sample | Malformed]:
        answer: dict[Task, Sample | Malformed] = {}
        by_question = self._by_question([task.question for task in wanted if task.index is None])
        placed: dict[Task, list[Place]] = {}
        for task in wanted:
            try:
                placed[task] = by_question.get(task.question) or self._places(task)
            except Malformed as error:
                answer[task] = error
        known = self._known(place for places in placed.values() for place in places)
        for task, places in placed.items():
            sample = next((known[place] for place in places if place in known and _is_of(known[place], task)), None)
            answer[task] = sample or self._missing(task, places, known)
        new = {place: sample for place, sample in known.items() if sample.pk is None}
        if self._is_check:
            self._missing_places |= new.keys()
            self.made = len(self._missing_places)
        else:
            Sample.objects.bulk_create(new.values())
            self.made += len(new)
            Sample.objects.bulk_update(_told_language(answer), ["language"], batch_size=200)
        self._subsets |= {subset for subset, _number in new}
        return answer

    def _places(self, task: Task) -> list[Place]:
        """Where the sample of a task may be: a question without a number has several places."""
        subset = self._subset(task)
        if task.index is not None:
            return [(subset, task.index)]
        if task.question.isascii() and task.question.isdigit() and int(task.question) <= LARGEST_INDEX:
            return [(subset, int(task.question))]
        start = int.from_bytes(hashlib.sha256(task.question.encode()).digest()[:4], "big") & LARGEST_INDEX
        return [(subset, (start + step) & LARGEST_INDEX) for step in range(SLOTS)]

    def _subset(self, task: Task) -> str:
        said = task.subset if task.subset is not None else self._otherwise
        if said is not None and (said in self._subsets or self._is_open):
            return said
        if said is None and (not self._subsets or "" in self._subsets):
            return ""
        if len(self._subsets) == 1:
            return next(iter(self._subsets))
        if said is None:
            raise Malformed(_("The log names no subset, and the dataset has several. Choose one."))
        raise Malformed(_("The dataset has no subset “%(subset)s”.") % {"subset": said})

    def _by_question(self, questions: Sequence[str]) -> dict[str, list[Place]]:
        """Of a dataset that was uploaded with a column of question ids."""
        named = [question for question in questions if question]
        if self._is_open or not named:
            return {}
        asked = [*named, *(int(question) for question in named if question.isascii() and question.isdigit())]
        rows = self._dataset.samples.filter(**{f"metadata__{QUESTION}__in": asked})
        chosen = rows.only("subset", "index", "metadata")
        return {str(row.metadata[QUESTION]): [(row.subset, row.index)] for row in chosen}

    def _known(self, places: Iterable[Place]) -> dict[Place, Sample]:
        numbers: dict[str, set[int]] = defaultdict(set)
        for subset, number in places:
            numbers[subset].add(number)
        known: dict[Place, Sample] = {}
        for subset, chosen in numbers.items():
            rows = self._dataset.samples.filter(subset=subset, index__in=sorted(chosen))
            known |= {
                (row.subset, row.index): row
                for row in rows.only("dataset", "subset", "index", "category", "language", "metadata")
            }
        return known

    def _missing(self, task: Task, places: list[Place], known: dict[Place, Sample]) -> Sample | Malformed:
        free = next((place for place in places if place not in known), None)
        if not self._is_open or free is None:
            named = f"{task.subset}/{task.index}" if task.subset else task.question or task.index
            return Malformed(_("The dataset has no sample %(named)s.") % {"named": named})
        known[free] = Sample(
            dataset=self._dataset,
            subset=free[0],
            index=free[1],
            category=task.category,
            instruction=task.instruction,
            language=task.language,
            metadata={} if task.index is not None else {QUESTION: task.question},
        )
        return known[free]


def _told_language(found: Mapping[Task, Sample | Malformed]) -> list[Sample]:
    """The samples whose language was not known, with it."""
    told: dict[int, Sample] = {}
    for task, sample in found.items():
        if isinstance(sample, Sample) and task.language and not sample.language:
            sample.language = task.language
            told[sample.pk] = sample
    return list(told.values())


def _is_of(sample: Sample, task: Task) -> bool:
    """Whether a number found belongs to the question, and not to another one with the same mark."""
    named = sample.metadata.get(QUESTION) if isinstance(sample.metadata, dict) else None
    return task.index is not None or named is None or str(named) == task.question


class Contestants:
    """The contestants of a dataset by name."""

    def __init__(self, dataset: Dataset, *, is_check: bool = False) -> None:
        """is_check: those who are missing are not written."""
        self._dataset, self._is_check = dataset, is_check
        self._by_name = {row.name: row for row in dataset.contestants.all()}
        self.made = 0

    def __getitem__(self, name: str) -> Contestant:
        return self._by_name[name]

    def make(self, records: Iterable[Record]) -> None:
        """Those who are not known yet. They joined with the experiment that they are first told of in."""
        joined = {
            name: record.experiment for record in reversed(list(records)) for name in (record.model_a, record.model_b)
        }
        new = [
            Contestant(dataset=self._dataset, name=name, version=version[:120])
            for name, version in sorted(joined.items())
            if name not in self._by_name
        ]
        if len(self._by_name) + len(new) > MOST_CONTESTANTS:
            raise Malformed(_("There are more than %(most)s contestants in the file.") % {"most": MOST_CONTESTANTS})
        self._by_name |= {row.name: row for row in (new if self._is_check else Contestant.objects.bulk_create(new))}
        self.made += len(new)
