"""The admin curates the catalogue and decides what counts; what happened in runs can be read there, not changed."""

from experiments.admin import catalog, library, reviews, runs, studies
from experiments.admin.base import BoundedPaginator, ReadOnly

__all__ = ["BoundedPaginator", "ReadOnly", "catalog", "library", "reviews", "runs", "studies"]
