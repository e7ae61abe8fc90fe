"""The rows of an answer, and the types of what is asked and answered."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Callable, Generic, Iterator, Optional, Sequence, TypeVar, Union

#: An instant of an argument or filter: aware, or a text as the read API takes it, such as ``-7d`` or ``2026-05-01``.
When = Union[datetime, str]
#: The value of a filter, such as ``80`` or ``gte.80``. A list has filters that are all fulfilled.
Filter = Union[str, int, float, bool, datetime, Sequence[Union[str, int, float, bool, datetime]], None]
#: An instant of a row, ISO 8601 in UTC; ``infinity`` and ``-infinity`` are the ends of time.
Instant = str

Row = TypeVar("Row")
#: Answers the rows of a page, and the cursor of the next one.
Page = Callable[[Optional[str]], "tuple[list[Any], Optional[str]]"]


class Rows(Generic[Row]):
    """All rows of a question, read page by page while they are iterated. Iterating again asks again."""

    def __init__(self, page: Page, columns: "list[str]", instants: "set[str]") -> None:
        self._page = page
        self._columns = columns
        self._instants = instants

    def __iter__(self) -> Iterator[Row]:
        cursor: Optional[str] = None
        while True:
            rows, cursor = self._page(cursor)
            yield from rows
            if cursor is None:
                return

    def all(self) -> "list[Row]":
        """Every row."""
        return list(self)

    def first(self) -> Optional[Row]:
        """The first row; None when there is none."""
        return next(iter(self), None)

    def frame(self) -> Any:
        """Every row as a pandas DataFrame. Instants are of type ``datetime64[us, UTC]``; unknown ones and the ends of time are NaT.

        Raises ImportError without pandas.
        """
        import pandas  # type: ignore[import-untyped,unused-ignore]

        rows = self.all()
        # With `select`, a row has only some of the columns.
        columns: "list[str]" = list(rows[0]) if rows else self._columns  # type: ignore[call-overload]
        table = pandas.DataFrame(rows, columns=columns)
        for name in self._instants.intersection(columns):
            instants = pandas.to_datetime(table[name], utc=True, errors="coerce", format="ISO8601")
            table[name] = instants.dt.as_unit("us")
        return table
