"""The card of a dataset folder, as the Hugging Face Hub writes it: README.md with YAML in front, whose `configs` say
which files are tables of what.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from experiments.library.datasets.reader.limits import CannotRead
from experiments.library.datasets.reader.tree import KINDS, Tree, suffix_of

CARD = "README.md"
FRONT = re.compile(r"\A\ufeff?---[ \t\r]*\n(.*?)^---[ \t\r]*$", re.DOTALL | re.MULTILINE)
LONGEST_CARD = 1 << 20  # bytes
SAMPLES, OUTPUTS, CONTESTANTS = "samples", "outputs", "contestants"  # configs of a dataset that was exported here
ONLY = "default"  # what a config is called that needs no name
TABLES = frozenset(suffix for kind in KINDS for suffix in kind)


class Words(yaml.BaseLoader):
    """Lists and objects of words, and nothing else: no number is computed, and a few lines of aliases cannot stand for
    more than memory holds.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*) are not read")
        return super().compose_node(parent, index)


class Card(NamedTuple):
    """tables: of samples, with the subset that each is, in the card's sequence. outputs, contestants: tables of these,
    of a dataset that was exported here.
    """

    tables: dict[str, str]
    outputs: list[str]
    contestants: list[str]


def read_card(tree: Tree) -> Card | None:
    """None without a card, or where it names no files. Raises CannotRead for YAML that cannot be read, and for a config
    without a table in the folder.
    """
    place = min((name for name in tree.files if name.rpartition("/")[2] == CARD), key=_depth, default="")
    if not place or _depth(place) > 1 or tree.files[place] > LONGEST_CARD:
        return None
    configs = _configs(tree.read(place), place)
    root = place.removesuffix(CARD)
    files = [name.removeprefix(root) for name in tree.files if name.startswith(root) and suffix_of(name) in TABLES]
    found: dict[str, dict[str, list[str]]] = {}
    for name, splits in configs.items():
        chosen = {split: _matching(files, patterns) for split, patterns in splits.items()}
        if not any(chosen.values()):
            raise CannotRead("card_without_table", file=place, config=name)
        found[name] = {split: [f"{root}{one}" for one in names] for split, names in chosen.items() if names}
    if not found:
        return None
    is_ours = {SAMPLES, OUTPUTS, CONTESTANTS} >= found.keys() and SAMPLES in found
    outputs, contestants = (
        sorted({name for names in found.pop(config, {}).values() for name in names}) if is_ours else []
        for config in (OUTPUTS, CONTESTANTS)
    )
    tables: dict[str, str] = {}
    for name, by_split in found.items():
        for split, names in by_split.items():
            parts = [name if name != ONLY and not is_ours else "", split if len(by_split) > 1 else ""]
            tables |= {one: "/".join(filter(None, parts)) for one in names if one not in tables}
    return Card(tables, outputs, contestants)


def _depth(name: str) -> int:
    return name.count("/")


def _configs(data: bytes, place: str) -> dict[str, dict[str, list[str]]]:
    """Patterns of files by split, by config. Raises CannotRead."""
    front = FRONT.match(data.decode(errors="replace"))
    if front is None:
        return {}
    try:
        said = Words(front[1]).get_single_data()
    except (yaml.YAMLError, RecursionError) as error:
        first = next(iter(str(error).splitlines()), "")
        raise CannotRead("broken_card", file=place, said=first[:200]) from error
    listed = said.get("configs") if isinstance(said, dict) else None
    found: dict[str, dict[str, list[str]]] = {}
    for config in listed if isinstance(listed, list) else ():
        if isinstance(config, dict):
            folder = config.get("data_dir")
            inside = f"{folder.strip('/')}/" if isinstance(folder, str) and folder.strip("/.") else ""
            splits = dict(_splits(config.get("data_files") or "**"))
            name = str(config.get("config_name") or ONLY)
            found[name] = {split: [f"{inside}{one}" for one in files] for split, files in splits.items()}
    return found


def _splits(files: Any) -> Iterator[tuple[str, list[str]]]:
    """In each form that the Hub takes: a pattern, a list of them, patterns by split, or a list of splits."""
    if isinstance(files, Mapping):
        for split, patterns in files.items():
            yield str(split), _texts(patterns)
    elif isinstance(files, list) and any(isinstance(one, dict) for one in files):
        for one in files:
            if isinstance(one, dict):
                yield str(one.get("split") or "train"), _texts(one.get("path"))
    else:
        yield "train", _texts(files)


def _texts(said: Any) -> list[str]:
    return [one.removeprefix("./") for one in (said if isinstance(said, list) else [said]) if isinstance(one, str)]


def _matching(files: Collection[str], patterns: Collection[str]) -> list[str]:
    """In the sequence of their names. `*` stays inside a folder, `**` does not."""
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    found: set[str] = set()
    for pattern in patterns:
        parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
        wanted = re.compile("".join(signs.get(part) or re.escape(part) for part in parts))
        found |= {name for name in files if wanted.fullmatch(name)}
    return sorted(found)
