"""From rows to passages. The tables are given, so that a migration can index what its own state of them holds."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from experiments.library.search.content import Content, content
from experiments.library.search.sought import mark

SETUP, MESSAGE, REASONING = "setup", "message", "reasoning"
PROMPTS = (
    *("prompt", "prompts", "system_prompt", "context", "first_message", "question", "addendum", "topic", "rubric"),
    "objectives",
)
OF_SETUPS = mark("kind", SETUP)  # of one passage in twenty: so the lists of runs ask for them alone
CHANGES = ("experiment", "run", "message", "reader", "created", "words")
OF_SETUP = ("pk", "title", "config", "workflow", "owner_id", "created")
OF_MESSAGE = (
    *("pk", "run_id", "seat", "model", "text", "raw_text", "reasoning", "operator", "flags", "created"),
    *("run__experiment_id", "run__experiment__workflow", "run__experiment__owner_id", "call__model__slug"),
)


@dataclass(frozen=True, slots=True)
class Tables:
    experiment: Any
    participant: Any
    message: Any
    passage: Any


def index_messages(tables: Tables, keys: Iterable[UUID]) -> None:
    rows = tables.message.objects.filter(pk__in=keys).order_by("pk").values(*OF_MESSAGE)
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
    marks += marks_of_model(row["call__model__slug"] or "", row["model"])
    place = {
        "experiment_id": row["run__experiment_id"],
        "run_id": row["run_id"],
        "message_id": row["pk"],
        "created": row["created"],
    }
    yield {**place, **_found_by(MESSAGE, row["pk"], content(marks, said(row)))}
    if row["reasoning"]:
        yield {**place, **_found_by(REASONING, row["pk"], content(marks, [row["reasoning"]]))}


def of_setup(row: Mapping[str, Any], models: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Title, prompts, and the models that are seated, by their names."""
    seated = list(models)
    marks = [*of_experiment(row["workflow"], row["owner_id"]), OF_SETUPS]
    marks += [one for slug, label in seated for one in marks_of_model(slug, label)]
    texts = [row["title"], *prompts(row["config"]), *(f"{label} {slug}" for slug, label in seated)]
    place = {"experiment_id": row["pk"], "created": row["created"]}
    return {**place, **_found_by(SETUP, row["pk"], content(marks, texts))}


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


def _found_by(kind: str, source: UUID, words: Content) -> dict[str, Any]:
    return {"kind": kind, "source": source, "words": words}
