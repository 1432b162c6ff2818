"""Text for a terminal: what models write must not move its cursor, rename its window or fake its colours."""

import json
import re
import sys
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from arena_lab.records import Record

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """Without control characters, except for line ends and tabs."""
    return CONTROLS.sub("�", text.replace("\r\n", "\n"))


def money(cost: Decimal | None) -> str:
    """None: nobody knows."""
    return "–" if cost is None else f"${cost:.4f}"


def write_json(value: Record | Iterable[Record]) -> None:
    """Records as the API gave them, for other programs."""
    shown: Any = value.to_json() if isinstance(value, Record) else [one.to_json() for one in value]
    sys.stdout.write(json.dumps(shown, indent=2, ensure_ascii=False) + "\n")
