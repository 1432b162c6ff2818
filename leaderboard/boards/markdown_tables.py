"""Tables in Markdown, as they are put into papers and READMEs."""

import re
from collections.abc import Sequence


def line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    """One line, in which nothing is markup."""
    return re.sub(r"([\\|`*_\[\]<>])", r"\\\1", " ".join(text.split()))
