"""The answer format of gpt-oss ("harmony"): a server that does not parse it leaves its marks in the content."""

import re

from experiments.gateway.reasoning import Piece, TagSplitter

_STARTS = ("<|channel|>", "<|start|>")
_HEADER = re.compile(
    r"<\|start\|>[^<]{0,80}<\|message\|>"
    r"|(?:<\|start\|>[^<]{0,80})?<\|channel\|>\s{0,4}(\w{1,20})[^<]{0,80}(?:<\|constrain\|>[^<]{0,20})?<\|message\|>"
)
_END = re.compile(r"<\|(?:end|return|call)\|>")
_MARKS = (*_STARTS, "<|end|>", "<|return|>", "<|call|>")
_LONGEST_HEADER = 250
_LONGEST_LEAD = 64  # characters of white space before the first mark
_THINKING = frozenset({"analysis", "commentary"})


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
            mark = _HEADER.match(text, start) or _END.match(text, start)
            if mark is not None:
                pieces += self._plain(text[position:start])
                pieces.append(Piece("tag", mark.group()))
                self.unclosed = mark.lastindex == 1 and mark[1].lower() in _THINKING
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
            if is_near and any(start.startswith(head) and start != head for start in _STARTS):
                return []
            self._chosen = HarmonySplitter() if is_near and head.startswith(_STARTS) else TagSplitter()
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
    return any(rest.startswith(begun) for begun in _STARTS) or any(mark.startswith(rest) for mark in _MARKS)
