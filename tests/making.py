"""Fixtures that are functions."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest


def maker(function: Callable[..., Any]) -> Any:
    """A fixture that is this function: its parameters before `/` are fixtures, the others are for the test to give."""
    parameters = inspect.signature(function).parameters.values()
    fixtures = [one.replace(kind=one.KEYWORD_ONLY) for one in parameters if one.kind is one.POSITIONAL_ONLY]

    def made(**given: Any) -> Callable[..., Any]:
        return functools.partial(function, *(given[one.name] for one in fixtures))

    functools.update_wrapper(made, function)
    del made.__wrapped__
    made.__signature__ = inspect.Signature(fixtures)
    return pytest.fixture(made)
