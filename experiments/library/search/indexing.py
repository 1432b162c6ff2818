"""Keeps what is found by its words up to date, in the transaction of whoever writes the words.

Messages and set-ups are indexed as they stand in the database. What else has a text of its own, such as a note, calls
`put` when it is written and `drop` when it goes while its run stays, and adds to `OTHERS` what indexes all of its kind.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from experiments.library.search.backends import content
from experiments.library.search.query import mark
from experiments.models import Experiment, Message, Participant, Passage, Run

SETUP, MESSAGE, REASONING = "setup", "message", "reasoning"
PROMPTS = (
    *("prompt", "prompts", "system_prompt", "context", "first_message", "question", "addendum", "topic", "rubric"),
    "objectives",
)
OF_SETUPS = mark("kind", SETUP)  # of one passage in twenty: so the lists of runs ask for them alone
CHANGES = ("experiment", "run", "message", "reader", "created", "words")
OF_SETUP = ("pk", "title", "config", "workflow", "owner_id", "created")
OWN = ("pk", "run_id", "seat", "model", "text", "raw_text", "reasoning", "operator", "flags", "created")
OF_EXPERIMENT = ("run__experiment_id", "run__experiment__workflow", "run__experiment__owner_id")
SLUG = "call__model__slug"


@dataclass(frozen=True, slots=True)
class Tables:
    """Given, so that a migration can index what its own state of them holds."""

    experiment: Any
    participant: Any
    message: Any
    passage: Any


TODAY = Tables(Experiment, Participant, Message, Passage)
AT_ONCE = 500
OTHERS: list[Callable[[], int]] = []  # each indexes all texts of a kind, and returns how many there were


def message(written: Message) -> None:
    """Index a message as it was just written, of which the call and its model are at hand."""
    row = {name: getattr(written, name) for name in OWN}
    row |= dict(zip(OF_EXPERIMENT, of_run_id(written.run_id), strict=True))
    row[SLUG] = written.call.model.slug if written.call else None
    write(TODAY, of_message(row))


@lru_cache(maxsize=1024)
def of_run_id(run_id: UUID) -> tuple[UUID, str, int]:
    """The run's experiment, its workflow and its owner, none of which ever changes."""
    return Experiment.objects.values_list("pk", "workflow", "owner_id").get(runs=run_id)


def messages(*keys: UUID) -> None:
    for begin in range(0, len(keys), AT_ONCE):
        index_messages(TODAY, keys[begin : begin + AT_ONCE])


def of_run(run: UUID) -> None:
    """Index all messages of a run."""
    messages(*Message.objects.filter(run_id=run).order_by("seq").values_list("pk", flat=True))


def setup(*experiments: UUID) -> None:
    """Index titles and prompts."""
    for begin in range(0, len(experiments), AT_ONCE):
        index_setups(TODAY, experiments[begin : begin + AT_ONCE])


def put(
    kind: str, source: UUID, text: str, *, run: Run, message: Message | None = None, reader: int | None = None
) -> None:
    """Index a text that belongs to a run, or to one of its messages. reader: the key of the only person who may find
    it; None for everybody who sees the run.
    """
    marks = of_experiment(run.experiment.workflow, run.experiment.owner_id)
    place = {"experiment_id": run.experiment_id, "run": run, "message": message, "reader_id": reader}
    fields = {**place, "kind": kind, "source": source, "created": timezone.now(), "words": content(marks, [text])}
    write(TODAY, [fields])


def drop(kind: str, source: UUID) -> None:
    Passage.objects.filter(kind=kind, source=source).delete()


def everything(tables: Tables = TODAY, *, only_missing: bool = False) -> int:
    """Index all set-ups and messages, some at a time, also while runs are live. Returns how many there were."""
    setups = _all(tables, tables.experiment, SETUP, index_setups, only_missing)
    return setups + _all(tables, tables.message, MESSAGE, index_messages, only_missing)


def _all(tables: Tables, model: Any, kind: str, index: Callable[[Tables, Iterable[UUID]], None], rest: bool) -> int:
    """Some rows in a transaction. They are locked in it, so that what is read of a live run is not older than what its
    driver has indexed meanwhile.
    """
    count, rows = 0, model.objects.order_by("pk")
    if rest:
        rows = rows.filter(~Exists(tables.passage.objects.filter(kind=kind, source=OuterRef("pk"))))
    last = UUID(int=0)
    while True:
        with transaction.atomic():
            keys = list(rows.filter(pk__gt=last).values_list("pk", flat=True)[:AT_ONCE])
            if not keys:
                return count
            list(model.objects.filter(pk__in=keys).order_by("pk").select_for_update().values_list("pk"))
            index(tables, keys)
        count, last = count + len(keys), keys[-1]


def index_messages(tables: Tables, keys: Iterable[UUID]) -> None:
    rows = tables.message.objects.filter(pk__in=keys).order_by("pk").values(*OWN, *OF_EXPERIMENT, SLUG)
    write(tables, (fields for row in rows for fields in of_message(row)))


def index_setups(tables: Tables, keys: Iterable[UUID]) -> None:
    rows = list(tables.experiment.objects.filter(pk__in=keys).order_by("pk").values(*OF_SETUP))
    seated = tables.participant.objects.filter(experiment__in=[row["pk"] for row in rows]).order_by("pk")
    models: dict[UUID, list[tuple[str, str]]] = {}
    for experiment, slug, label in seated.values_list("experiment", "model__slug", "model__label"):
        models.setdefault(experiment, []).append((slug, label))
    write(tables, (of_setup(row, models.get(row["pk"], [])) for row in rows))


def write(tables: Tables, passages: Iterable[dict[str, object]]) -> None:
    """Insert the passages, or put them in the place of those of the same source and kind."""
    tables.passage.objects.bulk_create(
        [tables.passage(**fields) for fields in passages],
        update_conflicts=True,
        unique_fields=["source", "kind"],
        update_fields=CHANGES,
    )


def of_message(row: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """The message as it reads and as it was produced; its reasoning apart."""
    marks = [*of_experiment(row["run__experiment__workflow"], row["run__experiment__owner_id"])]
    marks += [mark("seat", row["seat"]), *(mark("flag", flag) for flag in row["flags"])]
    marks += marks_of_model(row[SLUG] or "", row["model"])
    place = {
        "experiment_id": row["run__experiment_id"],
        "run_id": row["run_id"],
        "message_id": row["pk"],
        "source": row["pk"],
        "created": row["created"],
    }
    yield {**place, "kind": MESSAGE, "words": content(marks, said(row))}
    if row["reasoning"]:
        yield {**place, "kind": REASONING, "words": content(marks, [row["reasoning"]])}


def of_setup(row: Mapping[str, Any], models: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Title, prompts, and the models that are seated, by their names."""
    seated = list(models)
    marks = [*of_experiment(row["workflow"], row["owner_id"]), OF_SETUPS]
    marks += [one for slug, label in seated for one in marks_of_model(slug, label)]
    texts = [row["title"], *prompts(row["config"]), *(f"{label} {slug}" for slug, label in seated)]
    place = {"experiment_id": row["pk"], "created": row["created"]}
    return {**place, "kind": SETUP, "source": row["pk"], "words": content(marks, texts)}


def said(row: Mapping[str, Any]) -> list[str]:
    """What a message says: to the others, as it was produced, and before a person altered it."""
    return [row["text"], row["raw_text"], str((row["operator"] or {}).get("original") or "")]


def prompts(config: Mapping[str, Any]) -> Iterator[str]:
    """What the models of an experiment are told, of its configuration."""
    for name in PROMPTS:
        value = config.get(name)
        yield from (str(text) for text in (value.values() if isinstance(value, dict) else [value]) if text)


def of_experiment(workflow: str, owner: int) -> tuple[str, ...]:
    return mark("workflow", workflow), mark("by", str(owner))


def marks_of_model(slug: str, label: str = "") -> Iterator[str]:
    """A model is found by its whole name and by the ends of it: lab/gpt-4o and gpt-4o."""
    parts = slug.split("/")
    names = ["/".join(parts[at:]) for at in range(len(parts))]
    yield from (mark("model", name) for name in (*names, label) if name)
