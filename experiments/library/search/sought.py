"""What is sought, as a value; and as PostgreSQL and SQLite are asked for it. Plain Python."""

from dataclasses import dataclass

from experiments.library.search.words import folded, words

EVERYTHING = "=all"  # a mark that every passage carries


def mark(name: str, value: str) -> str:
    """What says of a passage where it belongs. No word of a text looks like it."""
    return f"={name}:{'_'.join(folded(value).split())}"


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand one after the other. is_open: the last one is only a beginning."""

    words: tuple[str, ...]
    is_open: bool = False

    @property
    def tsquery(self) -> str:
        return "(" + " <-> ".join(map(_lexeme, self.words)) + (":*)" if self.is_open else ")")

    @property
    def fts5(self) -> str:
        return _string(" ".join(self.words)) + (" *" if self.is_open else "")


def phrase(text: str, *, is_open: bool = False) -> Phrase | None:
    """None where the text holds no word. The last letters of unspaced writing may go on in the text that is found."""
    found = list(words(text))
    if not found:
        return None
    is_pair = found[-1].is_rest and len(found) > 1 and found[-2].end == found[-1].end
    kept = found[:-1] if is_pair else found
    return Phrase(tuple(word.folded for word in kept), is_open or (kept[-1].is_rest))


@dataclass(frozen=True, slots=True)
class Sought:
    """All of `phrases`, one of each of `marks`, none of `without`."""

    phrases: tuple[Phrase, ...] = ()
    marks: tuple[tuple[str, ...], ...] = ()
    without: tuple[Phrase, ...] = ()
    without_marks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.phrases or self.marks or self.without or self.without_marks)

    @property
    def tsquery(self) -> str:
        wanted = [one.tsquery for one in self.phrases]
        wanted += ["(" + " | ".join(map(_lexeme, choice)) + ")" for choice in self.marks]
        unwanted = [*(one.tsquery for one in self.without), *map(_lexeme, self.without_marks)]
        return " & ".join([*(wanted or [_lexeme(EVERYTHING)]), *(f"!{one}" for one in unwanted)])

    @property
    def fts5(self) -> str:
        wanted = [one.fts5 for one in self.phrases]
        wanted += ["(" + " OR ".join(map(_string, choice)) + ")" for choice in self.marks]
        asked = "(" + " AND ".join(wanted or [_string(EVERYTHING)]) + ")"
        unwanted = [*(one.fts5 for one in self.without), *map(_string, self.without_marks)]
        return asked + (f" NOT ({' OR '.join(unwanted)})" if unwanted else "")


def _lexeme(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def _string(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
