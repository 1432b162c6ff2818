"""Splits thinking from the answer: by tags or channel marks in the content, and once where a provider repeats it."""

import io
import re
from dataclasses import dataclass
from typing import Literal

_CODE_PARTS = re.compile(r"\n|`+|~+|[^\n`~]+")

PieceKind = Literal["text", "reasoning", "tag"]
_NAMES = ("think", "thinking", "thought", "reasoning")
_OPENERS = {f"<{name}>": name for name in _NAMES} | {
    "[reasoning]": "[reasoning]",
    "<|thinking|>": "|thinking|",
    "<|begin_of_thought|>": "|thought|",
}
_CLOSERS = {f"</{name}>": name for name in _NAMES} | {
    "[/reasoning]": "[reasoning]",
    "<|/thinking|>": "|thinking|",
    "<|end_of_thought|>": "|thought|",
}
_TAGS = _OPENERS | _CLOSERS
_PREFIXES = frozenset(tag[:end] for tag in _TAGS for end in range(1, len(tag)))
_TAG = re.compile("|".join(re.escape(tag) for tag in _TAGS), re.IGNORECASE | re.ASCII)
_LONGEST_TAG = max(map(len, _TAGS))
_CANDIDATE = re.compile(r"[<\[]")
_QUOTES = frozenset("`\"'")
_CHANNEL_STARTS = ("<|channel|>", "<|start|>")
_CHANNEL_HEADER = re.compile(
    r"<\|start\|>[^<]{0,80}<\|message\|>"
    r"|(?:<\|start\|>[^<]{0,80})?<\|channel\|>\s{0,4}(\w{1,20})[^<]{0,80}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>"
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call)\|>")
_CHANNEL_MARKS = (*_CHANNEL_STARTS, "<|end|>", "<|return|>", "<|call|>")
_LONGEST_HEADER = 250
_LONGEST_LEAD = 64  # characters of white space before the first mark
_THINKING_CHANNELS = frozenset({"analysis", "commentary"})


class CodeSpans:
    """Follows text that arrives in pieces; `inside` says whether the next character stands in code.

    Fenced blocks (``` or ~~~ at a line's start) and inline code. Inline code ends with its line at the latest, so that
    one stray backtick cannot hide what comes later.
    """

    def __init__(self) -> None:
        self._fence = ""
        self._fence_line = False
        self._inline = 0
        self._run = ""
        self._run_leads = False
        self._blank = True
        self._may_close = False

    @property
    def inside(self) -> bool:
        """Ask only when the next character is neither a backtick nor a tilde: the run before it counts as ended."""
        self._end_run()
        return bool(self._fence) or self._inline > 0

    def feed(self, text: str) -> None:
        for part in _CODE_PARTS.findall(text):
            if part[0] == "\n":
                self._end_run()
                if self._may_close:
                    self._fence = ""
                self._inline = 0
                self._blank = True
                self._fence_line = self._may_close = False
            elif part[0] in "`~":
                self._extend_run(part)
            else:
                self._plain(part)

    def _plain(self, text: str) -> None:
        self._end_run()
        if not text.isspace():
            self._blank = self._may_close = False

    def _extend_run(self, part: str) -> None:
        if not self._run.startswith(part[0]):
            self._end_run()
            self._run_leads = self._blank
        # A fence longer than 99 does not exist; the cap keeps a megabyte of backticks in small pieces linear.
        self._run = (self._run + part)[:99]
        self._blank = False

    def _end_run(self) -> None:
        run, self._run = self._run, ""
        if not run:
            return
        if self._fence and self._fence_line:
            if run[0] == self._fence[0] == "`":
                self._fence = ""  # ```like this``` on one line is inline code
        elif self._fence:
            self._may_close = self._run_leads and run.startswith(self._fence)
        elif self._run_leads and len(run) >= 3 and not self._inline:
            self._fence, self._fence_line = run, True
        elif run[0] == "`" and self._inline in (0, len(run)):
            self._inline = 0 if self._inline else len(run)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the input. All pieces joined, tags included, are the input again."""

    kind: PieceKind
    text: str


class TagSplitter:
    """Splits thinking in tags from the answer, piece by piece; the split does not depend on where chunks end.

    Tags: <think>, <thinking>, <thought>, <reasoning>, [REASONING], <|thinking|>, <|begin_of_thought|>, in any case.

    * A tag in Markdown code is text. Within thinking a closer between two equal quotes is a mention, and an opener
      nests only at a line's start, because a mention that counted would swallow the answer.
    * A block is closed by its own name only; other tags in it are thinking.
    * A closer without an opener is literal text, since what was sent out before it cannot be called back. Where a chat
      template writes the opener itself, `opened=True` starts inside a block that any closer ends.
    * A block still open at the end stays reasoning, and `unclosed` is true.
    """

    def __init__(self, *, opened: bool = False) -> None:
        self._block = "any" if opened else ""
        self._depth = 1 if opened else 0
        self._held = ""
        self._code = CodeSpans()
        self._line_blank = True
        self._last = ""
        self._pieces: list[Piece] = []

    @property
    def unclosed(self) -> bool:
        return self._depth > 0

    def feed(self, text: str) -> list[Piece]:
        return self._split(self._held + text, final=False)

    def close(self) -> list[Piece]:
        """What was held back because it could have become a tag."""
        return self._split(self._held, final=True)

    def _split(self, text: str, *, final: bool) -> list[Piece]:
        position = 0
        while candidate := _CANDIDATE.search(text, position):
            start = candidate.start()
            self._plain(text[position:start])
            length = self._tag_length(text, start, final=final)
            if length < 0:
                position = start
                break
            if length:
                self._tag(text, start, length)
            else:
                self._plain(text[start])
            position = start + max(length, 1)
        else:
            self._plain(text[position:])
            position = len(text)
        self._held = text[position:]
        pieces, self._pieces = self._pieces, []
        return pieces

    def _tag_length(self, text: str, start: int, *, final: bool) -> int:
        """Length of the tag at start; 0 for none, -1 when the next characters have to be awaited."""
        match = _TAG.match(text, start)
        if match is None:
            rest = text[start : start + _LONGEST_TAG].lower()
            return -1 if not final and start + len(rest) == len(text) and rest in _PREFIXES else 0
        if self._depth and self._last in _QUOTES and match.end() == len(text) and not final:
            return -1  # whether it is quoted shows in the next character
        return len(match.group())

    def _tag(self, text: str, start: int, length: int) -> None:
        tag = text[start : start + length]
        after = text[start + length : start + length + 1]
        counts = self._counts_in_block(tag.lower(), after) if self._depth else self._counts_in_text(tag.lower())
        if counts:
            self._pieces.append(Piece("tag", tag))
            self._line_blank, self._last = True, ""
            self._code = CodeSpans()
        else:
            self._plain(tag)

    def _counts_in_text(self, tag: str) -> bool:
        if tag not in _OPENERS or self._code.inside:
            return False
        self._block, self._depth = _OPENERS[tag], 1
        return True

    def _counts_in_block(self, tag: str, after: str) -> bool:
        if self._block == "any":
            return self._counts_in_implied_block(tag)
        if _TAGS[tag] != self._block:
            return False
        if tag in _OPENERS:
            self._depth += self._line_blank
            return self._line_blank
        if self._last and self._last == after and after in _QUOTES:
            return False
        self._depth -= 1
        return True

    def _counts_in_implied_block(self, tag: str) -> bool:
        if tag in _OPENERS and self._line_blank:
            self._block = _OPENERS[tag]
            return True
        if tag in _CLOSERS:
            self._depth = 0
            return True
        return False

    def _plain(self, text: str) -> None:
        if not text:
            return
        self._pieces.append(Piece("reasoning" if self._depth else "text", text))
        if not self._depth:
            self._code.feed(text)
        line = text.rpartition("\n")
        self._line_blank = (self._line_blank or bool(line[1])) and not line[2].strip()
        self._last = text[-1]


class Merged:
    """Reasoning from several sources (native field, tags) that may carry the same text: each sentence comes out once.

    Every source has its own place in the merged text. What agrees with the text already there is passed over, what goes
    on is appended. A source that turns out to differ is given in full, including what agreed by accident.
    """

    def __init__(self) -> None:
        self._text = io.StringIO()
        self._length = 0
        self._lead = 0
        self._place: dict[str, int] = {}
        self._agreed_from: dict[str, int] = {}

    def add(self, source: str, text: str) -> str:
        """The part of the text that is new."""
        if source not in self._place and self._length:
            text = text.lstrip()  # "<think>\n" begins with a line feed that the native field does not have
            self._place[source] = self._agreed_from[source] = self._lead
        if not text:
            return ""
        if self._place.get(source, 0) < self._length:
            return self._compare(source, text)
        return self._append(source, text)

    def _compare(self, source: str, text: str) -> str:
        place, agreed_from = self._place[source], self._agreed_from[source]
        self._text.seek(place)
        known = self._text.read(len(text))
        if not text.startswith(known):
            self._text.seek(agreed_from)
            return self._append(source, self._text.read(place - agreed_from) + text)
        self._place[source] = place + len(known)
        return self._append(source, text[len(known) :]) if len(text) > len(known) else ""

    def _append(self, source: str, text: str) -> str:
        self._text.seek(0, io.SEEK_END)
        self._text.write(text)
        if self._lead == self._length:
            self._lead += len(text) - len(text.lstrip())
        self._length += len(text)
        self._place[source] = self._agreed_from[source] = self._length
        return text


class HarmonySplitter:
    """Splits `<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…<|return|>` by its
    channels: analysis and commentary are reasoning, everything else is the answer. Marks are pieces of kind "tag".
    The split does not depend on where chunks end, and a mark without a whole header is text.
    """

    def __init__(self) -> None:
        self._held = ""
        self.unclosed = False

    def feed(self, text: str) -> list[Piece]:
        return self._split(self._held + text, final=False)

    def close(self) -> list[Piece]:
        return self._split(self._held, final=True)

    def _split(self, text: str, *, final: bool) -> list[Piece]:
        pieces: list[Piece] = []
        position, search_from = 0, 0
        while (start := text.find("<", search_from)) >= 0:
            mark = _CHANNEL_HEADER.match(text, start) or _CHANNEL_END.match(text, start)
            if mark is not None:
                pieces += self._plain(text[position:start])
                pieces.append(Piece("tag", mark.group()))
                self.unclosed = mark.lastindex == 1 and mark[1].lower() in _THINKING_CHANNELS
                position = search_from = mark.end()
            elif not final and _may_become_mark(text, start):
                break
            else:
                search_from = start + 1
        end = len(text) if start < 0 else start
        self._held = text[end:]
        return pieces + self._plain(text[position:end])

    def _plain(self, text: str) -> list[Piece]:
        return [Piece("reasoning" if self.unclosed else "text", text)] if text else []


class AnswerSplitter:
    """Splits an answer as its beginning asks for: by the marks of harmony, or by tags such as <think>."""

    def __init__(self, *, opened: bool = False) -> None:
        self._begun = ""
        self._chosen: TagSplitter | HarmonySplitter | None = TagSplitter(opened=True) if opened else None

    @property
    def unclosed(self) -> bool:
        return self._chosen is not None and self._chosen.unclosed

    def feed(self, text: str) -> list[Piece]:
        if self._chosen is None:
            text = self._begun = self._begun + text
            head = text.lstrip()
            is_near = len(text) - len(head) <= _LONGEST_LEAD
            if is_near and any(start.startswith(head) and start != head for start in _CHANNEL_STARTS):
                return []
            self._chosen = HarmonySplitter() if is_near and head.startswith(_CHANNEL_STARTS) else TagSplitter()
        return self._chosen.feed(text)

    def close(self) -> list[Piece]:
        if self._chosen is None:
            self._chosen = TagSplitter()
            return self._chosen.feed(self._begun) + self._chosen.close()
        return self._chosen.close()


def _may_become_mark(text: str, start: int) -> bool:
    """Whether what follows can make a mark out of text[start:], as far as it is there."""
    rest = text[start : start + _LONGEST_HEADER]
    if len(rest) == _LONGEST_HEADER:
        return False
    return rest.startswith(_CHANNEL_STARTS) or any(mark.startswith(rest) for mark in _CHANNEL_MARKS)
