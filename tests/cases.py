"""Many cases in one test: its fixtures are made once, all cases are tried, and each that fails is reported by name."""

import copy
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Model

Test = Callable[..., Any]


def each_case(names: str | Sequence[str], cases: Iterable[Any], ids: Any = None) -> Callable[[Test], Test]:
    """Use it like `pytest.mark.parametrize`, for cases that need no fixtures of their own.

    What a case writes to the database is undone before the next one, in tests whose writes are undone at their end, and
    each finds fixtures that are plain data or rows as they were made.
    """
    named = ids if callable(ids) or ids is None else list(ids)
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    tried = [_named(number, case, len(wanted), named) for number, case in enumerate(cases)]

    def decorate(test: Test) -> Test:
        own = inspect.signature(test)
        if inspect.iscoroutinefunction(test):

            async def over_all(*, subtests: pytest.Subtests, **fixtures: Any) -> None:
                for name, values in tried:
                    with subtests.test(name), _as_made(fixtures):
                        await test(**arguments(subtests, fixtures, values))
        else:

            def over_all(*, subtests: pytest.Subtests, **fixtures: Any) -> None:
                for name, values in tried:
                    with subtests.test(name), _undone(), _as_made(fixtures):
                        test(**arguments(subtests, fixtures, values))

        def arguments(subtests: pytest.Subtests, fixtures: Any, values: Sequence[Any]) -> dict[str, Any]:
            given = {name: _own(value) for name, value in fixtures.items()}
            if "subtests" in own.parameters:
                given["subtests"] = subtests
            return given | dict(zip(wanted, values, strict=True))

        functools.update_wrapper(over_all, test)
        del over_all.__wrapped__
        kept = [one for name, one in own.parameters.items() if name not in (*wanted, "subtests")]
        also = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        over_all.__signature__ = own.replace(parameters=[*kept, also])
        return over_all

    return decorate


def _named(number: int, case: Any, width: int, ids: Any) -> tuple[str, Sequence[Any]]:
    values = (case,) if width == 1 else case
    name = None
    if isinstance(case, type(pytest.param())):
        values, name = case.values, case.id
    elif callable(ids):
        name = "-".join(str(ids(value)) for value in values)
    elif ids is not None:
        name = str(ids[number])
    shown = name or f"{number}: {str(values[0] if width == 1 else values)[:80]}"
    return shown.encode("utf-8", "backslashreplace").decode(), values


def _own(value: Any) -> Any:
    return copy.deepcopy(value) if isinstance(value, Model) else value


@contextmanager
def _as_made(fixtures: dict[str, Any]) -> Iterator[None]:
    """Collections stay themselves, as somebody may be writing to them, and get their content back."""
    made = {name: copy.deepcopy(value) for name, value in fixtures.items() if isinstance(value, dict | list | set)}
    try:
        yield
    finally:
        for name, content in made.items():
            fixtures[name].clear()
            (fixtures[name].extend if isinstance(content, list) else fixtures[name].update)(content)


@contextmanager
def _undone() -> Iterator[None]:
    if not connection.in_atomic_block:
        yield
        return
    block = transaction.atomic()
    block._from_testcase = True  # so that `on_commit` runs within a case: tests/parts/commits.py
    with block:
        yield
        transaction.set_rollback(True)
