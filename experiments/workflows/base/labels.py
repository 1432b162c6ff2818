"""The labels of answers, and how models write them down: alone, in a sentence, in a list, a table or JSON."""

import re
from collections.abc import Callable, Sequence
from itertools import groupby, takewhile
from typing import Any

from experiments.workflows.base.events import JsonObject
from experiments.workflows.base.json_reader import read_json_or_list
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


UNKNOWN = "?"  # a letter that no label has
MOST_SKIPPED = 5  # lines between the header and the list
DEEPER = 3  # columns to the right of the list: a remark below one of its items

FENCE = re.compile(r"\s*(?:```|~~~)")
RULE = re.compile(r"[\s|:=+_*-]*$")
NUMBER = re.compile(
    r"\s*(?:[-•+]\s+)?(?i:(?:rank|place|position|number|no\.?)\s)?[#第(\[]?\s?(\d{1,3})"
    r"(?:\s?[-–]\s?\d{1,3}(?=[.):]))?\s?(?i:st|nd|rd|th|位|名)?(?i:\splace)?(?:\s?[.):\],、。–—-]{1,3}\s*|\s+)"
)
BULLET = re.compile(r"\s*(?:[-•+–]\s+)?")
ITEM_ENDS = re.compile(r"\s*(?:$|\(|[.,;。]$)")
INLINE_ENDS = re.compile(r"\s*(?:[,;.]\s*)?(?=$|[#(]?\d)")
RANK_COLUMN = re.compile(r"(?i:(?:final )?rank(?:ing)?|place|position|order|no\.?|#|名次|排名|排序|顺序)$")

Found = tuple[list[Place], list[str]]  # places, and the lines that they were read from


def read_list(body: Sequence[str]) -> Found:
    """The places in the lines under a header; none when they hold no list. Raises Unreadable for one whose order is
    not certain.
    """
    if found := _json(body):
        return found
    skipped = 0
    for start, line in enumerate(body):
        if not line.strip() or FENCE.match(line) or RULE.match(line):
            continue
        for form in FORMS:
            if found := form(body[start:]):
                return found
        skipped += 1
        if skipped > MOST_SKIPPED:
            break
    return [], []


def places_of_json(ranking: Any) -> list[Place]:
    """Of a list of labels, or of the text of one line. Raises Unreadable for anything else."""
    if isinstance(ranking, str):
        return places_of_line(ranking)
    if not isinstance(ranking, list):
        raise Unreadable("it holds no list called ranking")
    return [_place_of_json(item) for item in ranking]


def _place_of_json(item: Any) -> Place:
    """A label, a text with several ("Response A = Response B"), or a list of equals."""
    if isinstance(item, list):
        return tuple(letter for part in item for letter in _place_of_json(part))
    return (letters_of(item) if isinstance(item, str) else ()) or (UNKNOWN,)


def ranking_in(answer: JsonObject | list[Any]) -> Any:
    """The ranking of a JSON answer: the list that it is, or the one in it."""
    return answer if isinstance(answer, list) else answer.get("ranking")


def _json(body: Sequence[str]) -> Found | None:
    lines = [line for line in body if not FENCE.match(line)]
    text = "\n".join(lines).strip()
    if text.startswith("{") or (text.startswith("[") and text[1:].lstrip()[:1] in ('"', "[")):
        return places_of_json(ranking_in(read_json_or_list(text, ("ranking",)))), lines
    return None


def _table(lines: Sequence[str]) -> Found | None:
    """Rows in the order of their ranks; where no column is headed as the rank, in the order in which they stand."""
    rows = [(line, _cells(line)) for line in takewhile(_is_row, filter(str.strip, lines))]
    column = next((place for place, cell in enumerate(rows[0][1]) if RANK_COLUMN.match(cell)), None) if rows else None
    ranked = [(line, *found) for line, cells in rows if (found := _row(cells, column))]
    if not ranked:
        return None
    numbers = [number for _line, number, _place in ranked]
    if column is None and any(numbers) and numbers != list(range(1, len(numbers) + 1)):
        raise Unreadable("its table does not say which column is the rank")
    if column is not None and 0 in numbers:
        raise Unreadable("a row of its table has no rank")
    ordered = sorted(ranked, key=lambda row: row[1]) if column is not None else ranked
    return _grouped([(number, place) for _line, number, place in ordered]), [line for line, _cells in rows]


def _is_row(line: str) -> bool:
    return line.count("|") > 1


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in bare(line).strip().removeprefix("|").removesuffix("|").split("|")]


def _row(cells: Sequence[str], column: int | None) -> tuple[int, Place] | None:
    """(rank, place) of a row that names an answer; rank 0 where there is none."""
    for cell in cells:
        place, end = read_place(cell, 0)
        if place and end == len(cell):
            numbers = cells if column is None else cells[column : column + 1]
            return next((int(text) for text in map(_digits, numbers) if text), 0), place
    return None


def _digits(cell: str) -> str:
    found = NUMBER.match(f"{cell} ")
    return found[1] if found and found.end() == len(cell) + 1 else ""


def _one_line(lines: Sequence[str]) -> Found | None:
    """C > A > B, or 1. C 2. A 3. B."""
    line = bare(lines[0])
    numbered = NUMBER.match(line)
    begins = numbered.end() if numbered and ">" in line else BULLET.match(line).end()  # type: ignore[union-attr]  # it matches every line, be it with nothing
    places = _inline(line) or places_of_line(line[begins:])
    return (places, [lines[0]]) if places else None


def _inline(line: str) -> list[Place]:
    places: list[Place] = []
    end = 0
    while number := NUMBER.match(line, end):
        label = FULL.match(line, number.end()) or BARE.match(line, number.end())
        ends = INLINE_ENDS.match(line, label.end()) if label else None
        if not label or not ends or int(number[1]) != len(places) + 1:
            return []
        places.append((label[1].upper(),))
        end = ends.end()
    return places if end == len(line.rstrip()) and len(places) > 1 else []


def _numbered(lines: Sequence[str]) -> Found | None:
    """Items with numbers, remarks between them passed over; a number lower than the last one begins another list."""
    items: list[tuple[int, Place]] = []
    used: list[str] = []
    for line in takewhile(lambda line: not FENCE.match(line), lines):
        item = _numbered_item(line)
        if not item or _indent(line) >= _indent(lines[0]) + DEEPER:
            if not items:
                return None
        elif items and item[0] < items[-1][0]:
            break
        else:
            items.append(item)
            used.append(line)
    if items[0][0] != 1:
        raise Unreadable("its list does not begin with 1")
    if len(items) > 1 and items[0][0] == items[-1][0]:
        raise Unreadable("all places of its list have the same number")
    if len(items) == 1 and len(items[0][1]) > 1 and "=" not in used[0]:
        raise Unreadable("its only place names several answers")
    return _grouped(items), used


def _numbered_item(line: str) -> tuple[int, Place] | None:
    line = bare(line)
    number = NUMBER.match(line)
    place, _end = read_place(line, number.end()) if number else ((), 0)
    return (int(number[1]), place) if number and place else None


def _unnumbered(lines: Sequence[str]) -> Found | None:
    """Bare labels line by line. With words behind them they would as well be what is said about each answer."""
    places: list[Place] = []
    used: list[str] = []
    for line in lines:
        if not line.strip() or (places and _indent(line) >= _indent(used[0]) + DEEPER):
            continue
        text = bare(line)
        place, end = read_place(text, BULLET.match(text).end())  # type: ignore[union-attr]  # it matches every line, be it with nothing
        if not place or not ITEM_ENDS.match(text, end):
            break
        places.append(place)
        used.append(line)
    return (places, used) if places else None


FORMS: tuple[Callable[[Sequence[str]], Found | None], ...] = (_table, _one_line, _numbered, _unnumbered)


def _grouped(items: Sequence[tuple[int, Place]]) -> list[Place]:
    """Neighbours with the same number share a place; without numbers (0) each has its own."""
    if not any(number for number, _place in items):
        return [place for _number, place in items]
    groups = groupby(items, key=lambda item: item[0])
    return [tuple(letter for _number, place in group for letter in place) for _rank, group in groups]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
