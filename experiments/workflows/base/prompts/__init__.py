"""Prompts are text files with `$names`; their hash is stored with every step that used them.

"council/review" is `review.txt` among the prompts of the council, "rubric" one that several workflows share; a workflow
from elsewhere names its own by their paths.
"""

import hashlib
from functools import cache
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent


Name = str | Path


@cache
def text_of(name: Name) -> str:
    """The prompt as its file has it."""
    folder, _slash, own = str(name).rpartition("/")
    path = FOLDER.parent.parent / folder / "prompts" / f"{own}.txt" if folder else FOLDER / f"{own}.txt"
    return (name if isinstance(name, Path) else path).read_text(encoding="utf-8").strip()


def fill(prompt: Name, /, **values: object) -> str:
    """The prompt with its names filled in. Raises KeyError for a name without a value."""
    return Template(text_of(prompt)).substitute(values)


def version(*names: Name, **values: str) -> str:
    """A short hash over the named prompts: equal text, equal version. values: for names that are always the same."""
    texts = (Template(text_of(name)).safe_substitute(values) for name in names)
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


def fenced(name: str, text: str, token: str) -> str:
    """Untrusted text between markers whose token it cannot know."""
    return f"[[{name} {token}]]\n{without_token(text, token)}\n[[/{name} {token}]]"


def without_token(text: str, token: str) -> str:
    """Text that cannot close its fence with a copied marker."""
    return text.replace(token, "…")  # not "": what stands on both sides of it could be the token again
