"""The sentences of each personality, from `voices/<language>/<personality>.txt`: `# part`, then one sentence a line.

Slots: topic and topic2 (from the scenario), point and quote (from the other's message), n < m < big and pct (numbers).
`{topic|is}` is the topic with a verb that agrees with it.
"""

from functools import cache
from pathlib import Path
from typing import Final

PARTS: Final = ("opening", "react", "argue", "offer", "close", "item", "heading", "aside", "thought")
_FOLDER: Final = Path(__file__).parent / "voices"

Voice = dict[str, tuple[str, ...]]


@cache
def load_voice(language: str, personality: str) -> Voice:
    """Sentences by part."""
    voice: dict[str, list[str]] = {part: [] for part in PARTS}
    part = ""
    for line in (_FOLDER / language / f"{personality}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            part = line[2:]
        elif line:
            voice[part].append(line)
    return {name: tuple(sentences) for name, sentences in voice.items()}
