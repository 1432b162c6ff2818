"""What a description of the API no longer promises that an earlier one did."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

METHODS = ("get", "post", "put", "patch", "delete")
COMBINED = ("allOf", "oneOf", "anyOf")
INSIDE = {"[]": "items", "{}": "additionalProperties"}

Document = dict[str, Any]


class Command(BaseCommand):
    help = (
        "Prints the operations, answers, fields and types that NEW lacks and OLD has (both OpenAPI in JSON); 1 if any."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("old", type=Path)
        parser.add_argument("new", type=Path)

    def handle(self, *, old: Path, new: Path, **options: object) -> None:
        removed = sorted(promises(json.loads(old.read_text())) - promises(json.loads(new.read_text())))
        for line in removed:
            self.stdout.write(line)
        if removed:
            raise CommandError(f"{len(removed)} removed.")
        self.stdout.write("Nothing was removed.")


def promises(document: Document) -> set[str]:
    """Everything that a program may rely on, as lines: operations, parameters, answers and their fields."""
    found: set[str] = set()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method in METHODS:
                name = f"{method.upper()} {path}"
                found |= {name, *(f"{name} {line}" for line in _of_operation(operation, document))}
    return found


def _of_operation(operation: Document, document: Document) -> Iterator[str]:
    for parameter in operation.get("parameters", ()):
        yield f"parameter {parameter['name']}"
    for body in operation.get("requestBody", {}).get("content", {}).values():
        yield from (f"body {field}" for field in _fields(body.get("schema", {}), document))
    for status, answer in operation["responses"].items():
        yield f"answer {status}"
        for body in answer.get("content", {}).values():
            yield from (f"answer {status} {field}" for field in _fields(body.get("schema", {}), document))


def _fields(schema: Document, document: Document, above: tuple[str, ...] = ()) -> Iterator[str]:
    """What may be there, and of which types: `.results[].usage.calls: integer`. above: references that lead here."""
    if reference := schema.get("$ref"):
        if reference not in above:
            named = document["components"]["schemas"][reference.rpartition("/")[2]]
            yield from _fields(named, document, (*above, reference))
        return
    types = schema.get("type", [])
    yield from ("", *(f": {type_}" for type_ in ([types] if isinstance(types, str) else types)))
    inside = {f".{name}": field for name, field in schema.get("properties", {}).items()}
    inside |= {sign: schema[word] for sign, word in INSIDE.items() if isinstance(schema.get(word), dict)}
    for place, field in inside.items():
        yield from (f"{place}{inner}" for inner in _fields(field, document, above))
    for part in (part for word in COMBINED for part in schema.get(word, ())):
        yield from _fields(part, document, above)
