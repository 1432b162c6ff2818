"""Whatever a file holds, its reader gives runs that can be stored or says why not, and nothing else happens."""

import copy
import json
import random
import sys
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.imports import reading
from experiments.imports.reading import HoldsBattles
from experiments.imports.storing import proven
from experiments.imports.values import Unreadable
from experiments.reports.json_values import InvalidDocument
from tests.cases import each_case
from tests.experiments.imports import folders

NAMES = ("arena.json", "starchamber.json", "council.json", "debate.json", "inspect.json", "battles.jsonl")
VALUES = [json.loads(folders.read(name).splitlines()[0] if "jsonl" in name else folders.read(name)) for name in NAMES]
KNOWN = sorted({name for value in VALUES for name in json.dumps(value).split('"')[1::2] if name.isidentifier()})
LEAVES = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=20)
)
ODD = st.recursive(
    LEAVES | st.sampled_from(["A", "B", "user", "assistant", "model", "researcher", "Response A", "2026-01-01"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KNOWN), inner, max_size=6),
    max_leaves=25,
)


def taken_over(value):
    """How many runs can be made of it."""
    try:
        found = list(reading.of_value(value, "file.json"))
    except (Unreadable, HoldsBattles):
        return 0
    made = 0
    for one in found:
        assert one.taken or one.refused
        with suppress(InvalidDocument):
            made += bool(one.taken and proven(one.taken).digest)
    return made


def places(value, trail=()):
    """Every place in it."""
    yield trail
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inner:
        yield from places(item, (*trail, name))


def put(value, trail, item):
    if not trail:
        return item
    changed = copy.deepcopy(value)
    at = changed
    for name in trail[:-1]:
        at = at[name]
    at[trail[-1]] = item
    return changed


@given(st.data())
@settings(max_examples=60)
def test_a_run_with_something_odd_in_it_is_taken_or_refused(data):
    value = data.draw(st.sampled_from(VALUES))
    trail = data.draw(st.sampled_from(list(places(value))))

    taken_over(put(value, trail, data.draw(ODD)))


@each_case("cut", range(1, 9))
def test_a_zip_that_is_cut_off_or_damaged_is_refused(tmp_path, cut):
    whole = bytearray(folders.zipped(folders.cycle()))
    dice = random.Random(cut)
    for _time in range(3):
        whole[dice.randrange(len(whole))] ^= 0xFF
    path = tmp_path / "file"
    path.write_bytes(bytes(whole[: len(whole) - cut % 3]))

    with suppress(Unreadable, HoldsBattles):
        assert all(one.taken or one.refused for one in reading.runs(path, "file.zip"))


def calls_made(value):
    """How many calls of Python functions reading it takes: the same on every machine."""
    count = 0

    def called(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(called)
    try:
        assert taken_over(value)
    finally:
        sys.setprofile(None)
    return count


def longer(value, times):
    """Its longest list, so many times over."""
    lists = [trail for trail in places(value) if isinstance(reach(value, trail), list)]
    trail = max(lists, key=lambda one: len(json.dumps(reach(value, one))))
    return put(value, trail, reach(value, trail) * times)


def reach(value, trail):
    for name in trail:
        value = value[name]
    return value


@each_case("name", ["arena.json", "starchamber.json", "council.json", "inspect.json"])
def test_a_file_of_ten_times_the_length_takes_about_ten_times_the_work(name):
    value = VALUES[NAMES.index(name)]
    if name == "inspect.json":
        value = {**value, "samples": value["samples"][:1]}

    assert calls_made(longer(value, 80)) < 14 * calls_made(longer(value, 8))
