"""Boards: found or made, so that only comparable battles stand on one."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.utils.text import slugify

from experiments.models import Board, Dataset, ProviderModel

PEOPLE = "people"
PEOPLE_ELSEWHERE = "people-elsewhere"
LONGEST_SLUG = 100


def model_board(
    dataset: Dataset, model: ProviderModel, *, prompt: str, prompt_version: str, params: Mapping[str, Any]
) -> Board:
    """The board of a model that judges by one version of a prompt, with these parameters."""
    identity = {"prompt": prompt, "prompt_version": prompt_version, "params_hash": _hash(params)}
    details = {"params": dict(params), "judge_model": model}
    return _board(dataset, Board.Kind.MODEL, model.slug, identity, details)


def found_board(
    dataset: Dataset, model: ProviderModel, *, prompt: str, prompt_version: str, params: Mapping[str, Any]
) -> Board | None:
    """The board that `model_board` would give, if there is one: none is made."""
    identity = {"prompt": prompt, "prompt_version": prompt_version, "params_hash": _hash(params)}
    return dataset.boards.filter(kind=Board.Kind.MODEL, judge=model.slug, **identity).first()


def people_board(dataset: Dataset) -> Board:
    """The board on which people's votes stand."""
    return _board(dataset, Board.Kind.PEOPLE, PEOPLE)


def elsewhere_board(dataset: Dataset, name: str = "") -> Board:
    """The board of people who voted elsewhere. name: what an import calls them; never that of people who vote here."""
    return _board(dataset, Board.Kind.PEOPLE, PEOPLE_ELSEWHERE if name in ("", PEOPLE) else name)


def imported_board(dataset: Dataset, judge: str) -> Board:
    """The board of battles that were judged elsewhere, by whom the import names."""
    return _board(dataset, Board.Kind.IMPORTED, judge)


def _board(
    dataset: Dataset,
    kind: Board.Kind,
    judge: str,
    of_prompt: Mapping[str, str] | None = None,
    details: Mapping[str, Any] | None = None,
) -> Board:
    identity = {
        "kind": kind,
        "judge": judge,
        "prompt": "",
        "prompt_version": "",
        "params_hash": "",
        **(of_prompt or {}),
    }
    # the slug is readable, and unique by what makes the board what it is
    words = [word.replace("/", "-").replace(":", "-") for word in (dataset.slug, judge, identity["prompt"]) if word]
    exact = json.dumps([str(dataset.pk), *map(str, identity.values())])
    mark = hashlib.sha256(exact.encode()).hexdigest()[:6]
    slug = f"{slugify('-'.join(words))[:LONGEST_SLUG].strip('-')}-{mark}"
    board, _is_new = Board.objects.get_or_create(
        dataset=dataset, **identity, defaults={"slug": slug, **(details or {})}
    )
    return board


def _hash(params: Mapping[str, Any]) -> str:
    canonical = json.dumps(dict(params), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16] if params else ""
