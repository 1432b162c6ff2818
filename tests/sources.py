"""What the product's own Python says, read once for all tests that ask; the syntax trees are not kept."""

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
FLOORS = ("accounts", "arenasite", "experiments", "leaderboard")


@dataclass
class Source:
    """imported: modules. taken: what comes from one, as module.name. called: by its dotted name. words: of calls, as
    `name=value` where the value is a constant. texts: all literal ones, with the line of the first.
    """

    imported: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    texts: dict[str, int] = field(default_factory=dict)


@cache
def sources() -> dict[str, Source]:
    """Of each file by its path, migrations too."""
    files = sorted(path for floor in FLOORS for path in (ROOT / floor).rglob("*.py"))
    return {str(path.relative_to(ROOT)): read(path.read_text(encoding="utf-8")) for path in files}


def read(text: str) -> Source:
    found = Source()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.imported.add(node.module)
            found.taken |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call):
            found.called.add(_dotted(node.func))
            found.words |= {f"{word.arg}={_plain(word.value)}" for word in node.keywords}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.texts.setdefault(node.value, node.lineno)
    return found


def _plain(node: ast.expr) -> str:
    return repr(node.value) if isinstance(node, ast.Constant) else "…"


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "…"
