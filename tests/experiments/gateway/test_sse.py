"""The event stream's parser. That any split gives the same events is proven by the fuzzing."""

from experiments.gateway.sse import KEEP_ALIVE, Event, Parser
from tests.cases import each_case


def events_of(data: bytes) -> list[Event]:
    parser = Parser()
    return parser.feed(data) + parser.close()


@each_case("end", [b"\n", b"\r", b"\r\n"])
def test_every_kind_of_line_end_works(end):
    assert events_of(b"data: a" + end + b"data: b" + end + end + b"data: c" + end + end) == [Event("a\nb"), Event("c")]


@each_case(
    ("data", "events"),
    [
        (b": ping\ndata:\n\ndata: \n\n", [KEEP_ALIVE, KEEP_ALIVE, KEEP_ALIVE]),
        (b"data: a\n: ping\ndata: b\n\n", [KEEP_ALIVE, Event("a\nb")]),
        (b"data:  a \n\n", [Event(" a ")]),
        (b"event: error\ndata: a\n\ndata: b\n\n", [Event("a", "error"), Event("b")]),
        (b"event: ping\n\ndata: b\n\n", [Event("b")]),
        (b'error: {"code":500}\n\n', [Event('{"code":500}', "error")]),
    ],
    ids=[
        "comments and empty events are signs of life", "a comment inside an event", "one leading space is removed",
        "a name counts for one event", "a name without data is nothing", "error as the name of a field",
    ],
)  # fmt: skip
def test_fields_make_events(data, events):
    assert events_of(data) == events


def test_an_event_after_a_lone_carriage_return_is_not_delayed():
    assert Parser().feed(b"data: a\r\r") == [Event("a")]


def test_unicode_separators_do_not_split():
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1c"
    assert events_of(f"data: {text}\n\n".encode()) == [Event(text)]


def test_a_line_that_is_no_field_is_noticed():
    parser = Parser()
    parser.feed(b"<html>\n")
    assert parser.strange


@each_case("size", [1, 7, 4096])
def test_events_before_one_that_is_too_large_are_kept(size):
    data = b"data: a\n\ndata: " + b"x" * 5000 + b"\n\ndata: c\n\n"
    parser = Parser(limit_bytes=1000)
    events = [event for start in range(0, len(data), size) for event in parser.feed(data[start : start + size])]
    assert events + parser.close() == [Event("a")]
    assert parser.overflowed


def test_many_data_lines_together_are_an_event_that_is_too_large():
    parser = Parser(limit_bytes=1000)
    parser.feed(b"data: xxxxxxxxxx\n" * 200)
    assert parser.overflowed
