"""The built-in system contexts of StarChamber: a text file each, their names here, where they can be translated."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

FILES = Path(__file__).parent / "files" / "presets"
CUSTOM = "custom"
DEFAULT = "assistant"


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
    return {slug: BuiltinPreset(slug, *words, context=_context(slug)) for slug, words in WORDS.items()}


def _context(slug: str) -> str:
    return (FILES / f"{slug}.txt").read_text(encoding="utf-8").strip()


WORDS = {
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
