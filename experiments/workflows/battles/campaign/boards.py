"""Boards: found or made, so that only comparable battles stand on one."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.utils.text import slugify

from experiments.models import Board, Dataset, ProviderModel

PEOPLE = "people"
LONGEST_SLUG = 100


def model_board(
    dataset: Dataset, model: ProviderModel, *, prompt: str, prompt_version: str, params: Mapping[str, Any]
) -> Board:
    """The board of a model that judges by one version of a prompt, with these parameters."""
    return _board(dataset, Board.Kind.MODEL, model.slug, prompt, prompt_version, params, model)


def found_board(
    dataset: Dataset, model: ProviderModel, *, prompt: str, prompt_version: str, params: Mapping[str, Any]
) -> Board | None:
    """The board that `model_board` would give, if there is one: none is made."""
    identity = {"prompt": prompt, "prompt_version": prompt_version, "params_hash": _hash(params)}
    return dataset.boards.filter(kind=Board.Kind.MODEL, judge=model.slug, **identity).first()


def people_board(dataset: Dataset) -> Board:
    """The board on which people's votes stand."""
    return _board(dataset, Board.Kind.PEOPLE, PEOPLE)


def imported_board(dataset: Dataset, judge: str, *, prompt: str = "") -> Board:
    """The board of battles that were judged elsewhere, by whom the import names."""
    return _board(dataset, Board.Kind.IMPORTED, judge, prompt)


def _board(
    dataset: Dataset,
    kind: Board.Kind,
    judge: str,
    prompt: str = "",
    prompt_version: str = "",
    params: Mapping[str, Any] | None = None,
    model: ProviderModel | None = None,
) -> Board:
    identity = {
        "dataset": dataset,
        "kind": kind,
        "judge": judge,
        "prompt": prompt,
        "prompt_version": prompt_version,
        "params_hash": _hash(params),
    }
    details = {"slug": _slug(identity), "params": dict(params or {}), "judge_model": model}
    return Board.objects.get_or_create(**identity, defaults=details)[0]


def _hash(params: Mapping[str, Any] | None) -> str:
    canonical = json.dumps(dict(params or {}), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16] if params else ""


def _slug(identity: Mapping[str, Any]) -> str:
    """Readable, and unique by what makes the board what it is."""
    words = [identity["dataset"].slug, str(identity["judge"]), identity["prompt"]]
    named = slugify("-".join(word.replace("/", "-").replace(":", "-") for word in words if word))
    exact = json.dumps(
        [str(identity["dataset"].pk), *(str(value) for name, value in identity.items() if name != "dataset")]
    )
    return f"{named[:LONGEST_SLUG].strip('-')}-{hashlib.sha256(exact.encode()).hexdigest()[:6]}"
