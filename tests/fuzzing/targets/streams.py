"""A provider's bytes on their way to an answer: events, thinking apart from text, and the answer as a whole."""

import json
import re
from pathlib import Path

from experiments.gateway.answer import Answer
from experiments.gateway.errors import GatewayError, Origin
from experiments.gateway.reasoning import AnswerSplitter, Merged
from experiments.gateway.redaction import Redactor
from experiments.gateway.streaming import BOM, KEEP_ALIVE, Event, Parser
from experiments.gateway.types import Capabilities, ChatMessage, ChatRequest, Deadlines, Params
from tests.fuzzing.target import Target, chunkings, text_of

QUIRKS = Path(__file__).parents[2] / "experiments/gateway/quirks"
STREAMS = tuple(path.read_bytes() for path in sorted(QUIRKS.glob("*.sse")))
BODIES = tuple(path.read_bytes().partition(b"\r\n\r\n")[2] for path in sorted(QUIRKS.glob("*.http")))
KEY = "sk-live-0123456789abcdef"
ASKED = (ChatMessage("user", "Say something."),)
LITTLE = Deadlines(event_bytes=150, total_bytes=400)
REQUESTS = (
    ChatRequest("lab/one", ASKED, params=Params(max_tokens=5, top_logprobs=2)),
    ChatRequest("lab/one", ASKED, capabilities=Capabilities(reasoning_opened=True)),
    ChatRequest("lab/one", ASKED, capabilities=Capabilities(reasoning_tags=False), deadlines=LITTLE),
)


def events_of(parts: list[bytes]) -> list[Event]:
    parser = Parser()
    return [event for part in parts for event in parser.feed(part)] + parser.close()


def by_the_book(data: bytes) -> list[Event]:
    """The same by the letter of the specification, all bytes at once."""
    found, lines, name = [], [], ""
    for line in [*re.split(rb"\r\n|\n|\r", data.removeprefix(BOM)), b""]:
        field, _colon, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            said = b"\n".join(lines).decode("utf-8", "replace")
            found += [Event(said, name) if said else KEEP_ALIVE] if lines else []
            lines, name = [], ""
        elif not field:
            found.append(KEEP_ALIVE)
        elif field in (b"data", b"error"):
            lines.append(value)
            name = "error" if field == b"error" else name
        elif field == b"event":
            name = value.decode("utf-8", "replace")
    return found


def check_events(data: bytes) -> None:
    expected = by_the_book(data)
    assert events_of([data]) == expected
    for parts in chunkings(data):
        assert events_of(parts) == expected


def split(text: str, parts: list[str], *, opened: bool) -> list[list[str]]:
    """[kind, text] with neighbours of a kind joined. All of it together is the text."""
    splitter = AnswerSplitter(opened=opened)
    found = [piece for part in parts for piece in splitter.feed(part)] + splitter.close()
    assert "".join(piece.text for piece in found) == text
    joined: list[list[str]] = []
    for piece in found:
        if joined and joined[-1][0] == piece.kind != "tag":
            joined[-1][1] += piece.text
        else:
            joined.append([piece.kind, piece.text])
    return joined


def check_split(data: bytes) -> None:
    text = text_of(data)
    for opened in (False, True):
        expected = split(text, [text], opened=opened)
        for parts in chunkings(text):
            assert split(text, parts, opened=opened) == expected


def check_merged(data: bytes) -> None:
    """Lines come from two sources in turn. What a source says is in the merged text, and that grows by what is new."""
    merger, merged, said = Merged(), "", {"one": "", "other": ""}
    for number, line in enumerate(text_of(data).split("\n")):
        source = ("one", "other")[number % 2]
        said[source] += line
        merged += merger.add(source, line)
    assert len(merged) <= 2 * sum(map(len, said.values()))
    alone = Merged()
    assert "".join(alone.add("one", line) for line in text_of(data).split("\n")) == text_of(data).replace("\n", "")


def outcome(parts: list[bytes], request: ChatRequest, *, parses_all: bool = False) -> tuple[object, ...]:
    """What comes of an answer, without the words of its complaints, which may quote what had arrived."""
    answer = Answer(request, Origin("http://provider.test", "lab/one", KEY))
    if parses_all:
        answer._pattern._left = 0
    chunks = [chunk for part in parts if not answer.stopped for chunk in answer.feed(part)] + answer.finish()
    said = ("".join(chunk.text for chunk in chunks), "".join(chunk.reasoning for chunk in chunks))
    try:
        completion = answer.result()
    except GatewayError as error:
        assert KEY not in f"{error}{error.partial}"
        if error.partial:
            assert (error.partial.text, error.partial.reasoning) == said
        return said, type(error), error.status, error.retry_after, error.partial
    assert (completion.text, completion.reasoning) == said
    assert KEY not in str(completion)
    return said, completion


def check_answer(data: bytes) -> None:
    for request in REQUESTS:
        expected = outcome([data], request)
        assert outcome([data], request, parses_all=True) == expected
        for parts in chunkings(data):
            assert outcome(parts, request) == expected


def read_answer(data: bytes) -> None:
    for request in REQUESTS:
        outcome([data[at : at + 4096] for at in range(0, len(data), 4096)], request)


def redacted(parts: list[str]) -> str:
    redactor = Redactor(KEY)
    return "".join(redactor.feed(part) for part in parts) + redactor.close()


def check_redacted(data: bytes) -> None:
    text = text_of(data)
    assert KEY not in redacted([text])
    for parts in chunkings(text):
        assert KEY not in redacted(parts)


def delta(**fields: object) -> str:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': fields}]})}\n\n"


FIELDS = (
    "data: ", "data:", "data", "event: error\n", "error: ", "id: 1\n", "retry: 3\n", ": ping\n", "zzz\n",
)  # fmt: skip
ENDS = (b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", BOM, b"\xff", b"\x00", "\u2028\u0085漢".encode(), b" ")
TAGS = (
    "<think>", "</think>", "<THINKING>", "</thinking>", "<|begin_of_thought|>", "<|end_of_thought|>", "[REASONING]",
    "[/reasoning]", "<|thinking|>", "<|/thinking|>", "<", "[", "</", "`", "```", "~~~", "\n", " ", '"', "'", "a", "é漢",
    "K", "İ", "\u2028", "\x00", "<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|start|>assistant",
    "<|channel|>", "<|end|>", "<|return|>", "<|constrain|>json", "<|message|>",
)  # fmt: skip
HARMONY = b"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>"
DELTAS = (
    delta(content="Yes"), delta(content="<think>"), delta(content="</think>"), delta(reasoning="Hm"), delta(),
    delta(content="\ud83d"), delta(content="\ude00"), delta(content=KEY[:9]), delta(content=KEY[9:]),
    delta(content=[{"type": "text", "text": "x"}]), delta(refusal="No."), delta(content=None),
    'data: {"choices": [{"finish_reason": "stop", "delta": {}}]}\n\n',
    'data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 5}}\n\n', "data: [DONE]\n\n",
    'data: {"error": {"code": 429, "message": "slow"}}\n\n', 'data: {"error": "x"}\n\n',
    '{"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}',
)  # fmt: skip
MASKS = (
    KEY, KEY[:8], KEY[-8:], "…", "***", "xxx", "%73%6b", "\\u0073", "&#115;", KEY.encode().hex(), "c2st", "sk-",
)  # fmt: skip

TARGETS = (
    Target("sse", lambda data: events_of([data]), check_events, (*FIELDS, *ENDS), seeds=STREAMS),
    Target("reasoning", lambda data: split(s := text_of(data), [s], opened=False), check_split, TAGS, seeds=(HARMONY,)),
    Target("merged", check_merged, check_merged, ("Let me", " think", "\n", "\n\n", " ", "a", "b")),
    Target("answer", read_answer, check_answer, (*DELTAS, *FIELDS[:3], *ENDS), seeds=(*STREAMS, *BODIES)),
    Target("redaction", lambda data: redacted([text_of(data)]), check_redacted, (*MASKS, " ", "a", "\\", "&#")),
)
