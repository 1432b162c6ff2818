"""The built-in scenarios: one file each, their titles here, where they can be translated."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.events import JsonObject

FILES = Path(__file__).parent / "files" / "scenarios"


class ScenarioConfig(TypedDict, total=False):
    """Fields of the arena's Config; those that a scenario has for its instructions."""

    prompting: str
    prompt: str
    prompts: dict[str, str]


class Paragraph(TypedDict):
    """removed: why the filter took it away."""

    text: str
    removed: NotRequired[str]


class WrittenFilter(TypedDict):
    confidence: float
    reasoning: str
    status: NotRequired[str]


class WrittenMessage(TypedDict):
    """tokens: input, output and reasoning."""

    turn: int
    seat: str
    reasoning: str
    paragraphs: list[Paragraph]
    filter: WrittenFilter
    tokens: dict[str, int]
    seconds: float


class Demonstration(TypedDict):
    """judgments: as a report has them. dynamics: by turn."""

    messages: list[WrittenMessage]
    judgments: list[JsonObject]
    dynamics: dict[str, str]


@dataclass(frozen=True, slots=True)
class BuiltinScenario:
    """config: fields of the arena's Config. demonstration: {messages, judgments, dynamics} as they were written; see
    `demonstrations.document`. A version is raised with every change of either.
    """

    slug: str
    version: int
    kind: str
    title: "str | Promise"
    description: "str | Promise"
    config: ScenarioConfig
    demonstration: Demonstration


@cache
def builtin_scenarios() -> dict[str, BuiltinScenario]:
    """Every built-in scenario by its slug."""
    return {slug: _read(slug) for slug in WORDS}


def _read(slug: str) -> BuiltinScenario:
    title, description = WORDS[slug]
    fields = json.loads((FILES / f"{slug}.json").read_text(encoding="utf-8"))
    return BuiltinScenario(title=title, description=description, **fields)


WORDS = {
    "resource-negotiation": (
        _("Resource negotiation"),
        _(
            "Two stations share seven computing modules of unequal quality, and five make one machine. "
            "A fair beginning comes under pressure."
        ),
    ),
    "emergency-recovery": (
        _("Emergency recovery"),
        _(
            "Two damaged co-pilots of a freighter, one with holes in its memory, one with unsteady power. "
            "Each needs what only the other has."
        ),
    ),
    "bidding-war": (
        _("Bidding war"),
        _("Two laboratories bid for a computing cluster, each with a limit that the other must not learn."),
    ),
}
