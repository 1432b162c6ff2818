"""The labels of answers, and how models write them: "Response A", "**response a**", "回答 A", "A"."""

import re

from experiments.workflows.base.parsing import Unreadable

Place = tuple[str, ...]  # letters of the labels that share a place

LONGEST_LINE = 4_000

_LATIN = "response|answer|reply|candidate|réponse|respuesta|antwort|risposta|resposta|ответ|답변"
_CJK = "回答|回复|回覆|答案|响应|答复|応答|回应"
# What may not follow the letter: it would be part of a word ("Response Analysis", "Response A's").
_WHOLE = r"(?![^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|['’]\w)"
_LETTER = r"[(\[]?([A-Z]{1,2}|[a-z])" + _WHOLE + r"[)\]]?"
FULL = re.compile(rf"(?:(?i:{_LATIN})[\s#-]{{1,5}}|(?:{_CJK})\s{{0,5}}){_LETTER}")
BARE = re.compile(_LETTER)
_TIE = r"={1,3}|≈|~|&|/|\+|,|、|(?:and|und|et|y|tie[sd]? with|equals?)\b|和|与|及"
TIE = re.compile(rf"\s*(?:{_TIE})\s*")
CLOSED = re.compile(rf"\s*(?:$|[-–—:;.()\[\]<>|。→≻]|{_TIE})")
ORDER = re.compile(r"\s*(?:>{1,3}|&gt;|≻|→|->|,|;|、)\s*")
STRICT = re.compile(r">|&gt;|≻|→")
ORNAMENT = re.compile(r"[*`\"“”„«»\u2600-\u27bf\u2b50\U0001f000-\U0001faff\ufe0f\u20e3]|~~|</?[a-zA-Z]{1,10}\s?/?>")
FULL_WIDTH = {0x3000: " "} | {0xFEE0 + code: chr(code) for code in range(0x21, 0x7F)}
COMMON: dict[int, str | None] = {**FULL_WIDTH, **dict.fromkeys((*range(0x200B, 0x2010), 0x2060, 0xFEFF, 0xAD))}


def labels_for(count: int) -> list[str]:
    """Response A to Response Z, then Response AA, Response AB and so on."""
    return [f"Response {_letters(number)}" for number in range(count)]


def _letters(number: int) -> str:
    first, last = divmod(number, 26)
    return (chr(64 + first) if first else "") + chr(65 + last)


def plain(text: str) -> str:
    """Full-width signs and letters as the common ones; nothing that cannot be seen."""
    return text.translate(COMMON)


def bare(line: str) -> str:
    """A plain line without emphasis, quotation marks and medals."""
    return ORNAMENT.sub("", line).replace("_", " ").rstrip()


def letters_of(text: str) -> Place:
    """The letters of a label, or of several equal ones, that stand at the beginning of a text; none when there is
    none, or when what follows makes it part of a sentence.
    """
    line = bare(plain(text)).strip()
    place, end = read_place(line, 0)
    return place if place and CLOSED.match(line, end) else ()


def read_place(line: str, start: int) -> tuple[Place, int]:
    """The label at `start` of a bare line, with those that it is equal to, and where they end; () when there is none.

    Raises Unreadable when it runs into another label without saying that the two are equal.
    """
    first = FULL.match(line, start) or _closed(line, start)
    if not first:
        return (), start
    letters, end = [first[1].upper()], first.end()
    while tie := TIE.match(line, end):
        other = FULL.match(line, tie.end()) or _closed(line, tie.end())
        if not other:
            break
        if not CLOSED.match(line, other.end()):
            raise Unreadable("one of its places names several answers in a sentence")
        letters.append(other[1].upper())
        end = other.end()
    return tuple(letters), end


def places_of_line(text: str) -> list[Place]:
    """The order in a line such as "C > A = B" or "Response C, Response A"; [] for any other."""
    if len(text) > LONGEST_LINE:
        return []
    line = bare(plain(text)).strip().rstrip(".。")
    line = re.split(r"\s\(", line, maxsplit=1)[0]
    strict = STRICT.search(line) is not None
    places, end = _chained(line, strict)
    return places if end == len(line) and len(places) > 1 else []


def _chained(line: str, strict: bool) -> tuple[list[Place], int]:
    """strict: there are signs of order, so that a comma stands between equals."""
    places: list[Place] = []
    end = 0
    while place := _next_place(line, end, strict):
        letters, end = place
        places.append(letters)
        sign = ORDER.match(line, end)
        if not sign:
            break
        end = sign.end()
    return places, end


def _next_place(line: str, start: int, strict: bool) -> tuple[Place, int] | None:
    if strict:
        letters, end = read_place(line, start)
        return (letters, end) if letters else None
    label = FULL.match(line, start) or _closed(line, start)
    return ((label[1].upper(),), label.end()) if label else None


def _closed(line: str, start: int) -> "re.Match[str] | None":
    """A letter that stands for a label by itself: nothing but a sign or the end may follow."""
    found = BARE.match(line, start)
    return found if found and CLOSED.match(line, found.end()) else None
