"""The sentences of each personality, from `voices/<language>/<personality>.txt`: `# part`, then one sentence a line.

Slots: topic and topic2 (from the scenario), point and quote (from the other's message), n < m < big and pct (numbers).
`{topic|is}` is the topic with a verb that agrees with it. In the other files (answers, reviews, debates) topics bring
their article along, and what is known of the domain (`voices/<language>/domains/`) fills criterion, risk and so on.
"""

from functools import cache
from pathlib import Path
from typing import Final

PARTS: Final = ("opening", "react", "argue", "offer", "close", "item", "heading", "aside", "thought")
_FOLDER: Final = Path(__file__).parent / "voices"

Voice = dict[str, tuple[str, ...]]


@cache
def load_voice(language: str, personality: str) -> Voice:
    """Sentences by part; a personality has all PARTS, another file those it names."""
    voice: dict[str, list[str]] = {part: [] for part in PARTS}
    part = ""
    for line in (_FOLDER / language / f"{personality}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            part = line[2:]
            voice.setdefault(part, [])
        elif line:
            voice[part].append(line)
    return {name: tuple(sentences) for name, sentences in voice.items()}


@cache
def voice_files(folder: str) -> tuple[Path, ...]:
    """The files of one folder of voices, by name."""
    return tuple(sorted((_FOLDER / folder).glob("*.txt")))
