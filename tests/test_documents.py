"""What the documents call a file is one, and every room of the experiments is told of."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*.md")])
FOLDERS = ("accounts", "arenasite", "benchmarks", "client", "deploy", "docs", "experiments", "leaderboard", "locale")
FILES = {
    f"/{path.relative_to(ROOT)}"
    for folder in (*FOLDERS, "static", "templates", "tests")
    for path in (ROOT / folder).rglob("*.*")
} | {f"/{path.name}" for path in ROOT.iterdir()}
NAMED = re.compile(r"`([\w./-]+\.(?:py|html|js|css|toml|md|ya?ml|c))`")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_a_document_names_is_there(document):
    named = set(NAMED.findall(document.read_text(encoding="utf-8")))

    assert [name for name in sorted(named) if not is_there(name)] == []


def is_there(name: str) -> bool:
    return any(file.endswith(f"/{name}") for file in FILES)


def test_a_file_that_is_not_there_is_noticed():
    assert is_there("experiments/actions.py")
    assert is_there("actions.py")
    assert not is_there("ctions.py")
    assert not is_there("experiments/nowhere.py")


def test_every_room_of_the_experiments_is_told_of():
    told = set(re.findall(r"`(\w+)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    rooms = {path.parent.name for path in (ROOT / "experiments").glob("*/__init__.py")}

    assert len(rooms) > 30
    assert rooms - told == set()
