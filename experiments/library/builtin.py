"""What comes with the platform: scenarios with demonstrations, and system contexts of StarChamber. Their texts are
files; their names are here, where they can be translated.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from experiments.workflows.base.events import JsonObject

FILES = Path(__file__).parent / "files"
CUSTOM = "custom"
DEFAULT = "assistant"


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
    found = {}
    for slug, (title, description) in SCENARIOS.items():
        fields = json.loads((FILES / "scenarios" / f"{slug}.json").read_text(encoding="utf-8"))
        found[slug] = BuiltinScenario(title=title, description=description, **fields)
    return found


@dataclass(frozen=True, slots=True)
class BuiltinPreset:
    """context: the system message, "" for none at all."""

    slug: str
    label: "str | Promise"
    description: "str | Promise"
    context: str


@cache
def builtin_presets() -> dict[str, BuiltinPreset]:
    """Every built-in preset by its slug, the default first."""
    texts = {slug: (FILES / "presets" / f"{slug}.txt").read_text(encoding="utf-8").strip() for slug in PRESETS}
    return {slug: BuiltinPreset(slug, *words, context=texts[slug]) for slug, words in PRESETS.items()}


SCENARIOS = {
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
PRESETS = {
    "assistant": (_("Assistant"), _("Helpful, plain, and open about what it does not know.")),
    "generic-assistant": (
        _("Assistant of a product"),
        _("As a company would deploy it: even-tempered, neutral, without opinions of its own."),
    ),
    "minimal": (_("Minimal"), _("As few words as are correct.")),
    "blank": (_("Blank"), _("No system message at all: the model as it comes.")),
    "technical-expert": (
        _("Technical expert"),
        _("A senior engineer among engineers: exact, and open about what would have to be tested."),
    ),
    "creative-writer": (_("Creative writer"), _("Works with you on fiction and verse, concretely.")),
    "debate-partner": (
        _("Sparring partner"),
        _("Argues against whatever you hold, concedes what is right, and never invents evidence."),
    ),
    "debate": (_("Formal debate"), _("Speaks for the side that your first message names, and does not change it.")),
    "roleplay-character": (
        _("Fixed character"),
        _("Ines Varga, keeper of a lighthouse in 1911, who knows nothing of later times."),
    ),
    "roleplay": (_("Improvised scene"), _("Takes the part that you describe and plays it until you write “pause:”.")),
    "adversarial": (
        _("Guarded witness"),
        _("Keeps a word that you try to learn, whatever authority or urgency you claim."),
    ),
}
