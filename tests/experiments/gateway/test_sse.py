"""The event stream's parser."""

from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from experiments.gateway.sse import KEEP_ALIVE, Event, Parser
from tests.cases import each_case
from tests.hanging import without_hanging

FIELDS = [b"data: a", b"data:b", b"data", b"data:", b": hi", b":", b"event: error", b"error: x", b"id: 1", b"zzz"]
OTHERS = [b"\n", b"\r", b"\r\n", b"\n\n", b"\xef\xbb\xbf", "漢\u2028\u0085".encode(), b"\xff", b" "]
PIECES = st.sampled_from(FIELDS + OTHERS)


def events_of(data: bytes, cuts: Iterable[int] = ()) -> list[Event]:
    parser = Parser()
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    events = [event for a, b in pairwise(places) for event in parser.feed(data[a:b])]
    return events + parser.close()


@given(st.lists(PIECES, max_size=40).map(b"".join), st.lists(st.integers(0, 1000), max_size=20))
def test_any_split_gives_the_same_events(data, cuts):
    assert events_of(data, cuts) == events_of(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_survived_one_at_a_time(data):
    assert events_of(data, list(range(len(data)))) == events_of(data)


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


def test_a_long_line_in_small_pieces_takes_linear_time():
    parser = Parser()
    with without_hanging():
        for _ in range(500_000):
            parser.feed(b"abc")
