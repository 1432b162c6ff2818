"""Long lists: the next page is fetched when somebody gets there."""

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from arena_lab.asking import Ask, Page
from arena_lab.frames import to_dataframe
from arena_lab.lines import AsyncLine, Line
from arena_lab.records import Record

if TYPE_CHECKING:
    import pandas as pd

R = TypeVar("R", bound=Record)


class Rows(Generic[R]):
    """Iterate over it as often as you like: each time it asks anew. columns: put in front of each row of a frame."""

    def __init__(self, line: Line, ask: Ask[Page[R]], columns: dict[str, Any] | None = None) -> None:
        self._line, self._ask, self._columns = line, ask, columns or {}

    def __iter__(self) -> Iterator[R]:
        ask, cursor = self._ask, "first"
        while cursor:
            page = self._line.do(ask)
            yield from page.rows
            cursor = page.cursor
            ask = ask.with_params(cursor=cursor)

    def first(self) -> R | None:
        return next(iter(self), None)

    def all(self) -> list[R]:
        return list(self)

    def to_dataframe(self) -> "pd.DataFrame":
        """Needs pandas. Judgments have one row per score."""
        return to_dataframe(self, **self._columns)


class AsyncRows(Generic[R]):
    """`async for` over it as often as you like: each time it asks anew."""

    def __init__(self, line: AsyncLine, ask: Ask[Page[R]], columns: dict[str, Any] | None = None) -> None:
        self._line, self._ask, self._columns = line, ask, columns or {}

    async def __aiter__(self) -> AsyncIterator[R]:
        ask, cursor = self._ask, "first"
        while cursor:
            page = await self._line.do(ask)
            for row in page.rows:
                yield row
            cursor = page.cursor
            ask = ask.with_params(cursor=cursor)

    async def first(self) -> R | None:
        async for row in self:
            return row
        return None

    async def all(self) -> list[R]:
        return [row async for row in self]

    async def to_dataframe(self) -> "pd.DataFrame":
        """Needs pandas. Judgments have one row per score."""
        return to_dataframe(await self.all(), **self._columns)
