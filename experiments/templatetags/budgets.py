"""Words of budgets on pages."""

from collections.abc import Mapping
from typing import Any

from django import template

from experiments.lab.budgets import standing as budget_standing

register = template.Library()


@register.filter
def budget_reached(told: Mapping[str, Any]) -> str:
    """Why a run was stopped, in the reader's language, from what its last event tells of the budget."""
    return budget_standing.reached(told)
