"""`manage.py check_words`: pages, documents, API descriptions and names use the words of `locale/terms.csv`."""

import ast
import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babel.messages.pofile import read_po
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from drf_spectacular.generators import SchemaGenerator

ROOT: Path = settings.BASE_DIR
TERMS = ROOT / "locale" / "terms.csv"
APPS = ("accounts", "arenasite", "experiments", "leaderboard")
QUOTED = re.compile(
    r"```.*?```|`[^`]*`|%\(\w+\)[sd]|\]\([^)]*\)|^    .*$", re.DOTALL | re.MULTILINE
)  # code, placeholders, addresses
DEFINITION = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
PART_OF_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True)
class Banned:
    """Words that are not to be used, with the term that stands for each."""

    terms: dict[str, str]

    def within(self, text: str) -> Iterator[tuple[str, str]]:
        if self.terms:
            words = "|".join(map(re.escape, sorted(self.terms, key=len, reverse=True)))
            for found in re.finditer(rf"\b(?:{words})\b", text, re.IGNORECASE):
                yield found[0], self.terms[found[0].lower()]


class Command(BaseCommand):
    help = "Report words that are not to be used: on pages, in documents and the API reference, in names and comments."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        complaints = [*_of_pages(_banned("not on pages")), *_of_code(_banned("not in code"))]
        in_documents = _banned("not in documents")
        complaints += [*_of_documents(in_documents), *_of_api(in_documents)]
        for line in complaints:
            self.stderr.write(line)
        if complaints:
            raise CommandError(f"{len(complaints)} words are not to be used: locale/terms.csv names the ones that are.")
        self.stdout.write("Every word is one of ours.")


def _banned(column: str) -> Banned:
    with TERMS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return Banned({word: row["term"] for row in rows for word in row[column].split("|") if word})


def _of_pages(banned: Banned) -> Iterator[str]:
    for domain in ("django", "djangojs"):
        with (ROOT / f"locale/zh_Hans/LC_MESSAGES/{domain}.po").open("rb") as file:
            messages = [message.id for message in read_po(file) if message.id]
        for text in messages:
            for one in [text] if isinstance(text, str) else text:
                yield from (f"page: “{one}”: {word} → {term}" for word, term in banned.within(QUOTED.sub(" ", one)))


def _of_documents(banned: Banned) -> Iterator[str]:
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]):
        text = QUOTED.sub(lambda found: "\n" * found[0].count("\n"), path.read_text(encoding="utf-8"))
        for number, line in enumerate(text.splitlines(), 1):
            for word, term in banned.within(line):
                yield f"{path.relative_to(ROOT)}:{number}: {word} → {term}"


def _of_api(banned: Banned) -> Iterator[str]:
    document = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]  # drf-spectacular has no types
    for text in sorted(set(_descriptions(document))):
        yield from (f"API: “{text}”: {word} → {term}" for word, term in banned.within(QUOTED.sub(" ", text)))


def _descriptions(node: Any) -> Iterator[str]:
    """What a part of an OpenAPI document says in words."""
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    if isinstance(node, dict) and isinstance(node.get("description"), str):
        yield node["description"]
    for child in children:
        yield from _descriptions(child)


def _of_code(banned: Banned) -> Iterator[str]:
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" in path.parts:
                continue
            source = path.read_text(encoding="utf-8")
            definitions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DEFINITION)]
            texts = {node.lineno: _in_words(node) for node in definitions}
            texts |= {n: line.partition("#")[2] for n, line in enumerate(source.splitlines(), 1) if " # " in line}
            for number, text in sorted(texts.items()):
                for word, term in banned.within(text):
                    yield f"{path.relative_to(ROOT)}:{number}: {word} → {term}"


def _in_words(node: DEFINITION) -> str:
    """The name that a statement gives, with its docstring."""
    return f"{' '.join(PART_OF_NAME.findall(node.name))} {ast.get_docstring(node) or ''}"
