"""Cells and lines of CSV files that somebody opens as a spreadsheet: no text in them is taken for a formula."""

import csv
import io
import re
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

BOM = "\ufeff".encode()  # without one Excel reads Chinese as gibberish, and readers of data frames pass over it

# What a spreadsheet passes over before it looks whether a cell is a formula: white space, control and invisible
# characters, quotes. Then the signs themselves, also in their full and small widths.
PASSED_OVER = r"[\s\x00-\x1f\x7f-\xa0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff'\"`´‘’“”]*"
FORMULA = re.compile(rf"{PASSED_OVER}[=+\-@＝＋－＠﹦﹢﹣﹫−]")
SHIFTS = ("\t", "\r", "\n")


def cell(value: Any) -> str:
    """The value as text that no spreadsheet computes with. Numbers stay numbers; an apostrophe disarms the rest."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    text = str(value)
    return f"'{text}" if text.startswith(SHIFTS) or FORMULA.match(text) else text


def csv_line(values: Iterable[Any]) -> bytes:
    """Every cell is quoted, so that a spreadsheet that splits at semicolons splits where we do."""
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow([cell(value) for value in values])
    return line.getvalue().encode()
