"""The admin curates the catalogue and decides what counts; what happened in runs can be read there, not changed."""

from experiments.admin import (
    battles,
    catalog,
    coding,
    datasets,
    files,
    library,
    money,
    reviews,
    runs,
    search,
    transcript,
    webhooks,
)
from experiments.admin.base import BoundedPaginator, ReadOnly

__all__ = [
    "BoundedPaginator",
    "ReadOnly",
    "battles",
    "catalog",
    "coding",
    "datasets",
    "files",
    "library",
    "money",
    "reviews",
    "runs",
    "search",
    "transcript",
    "webhooks",
]
