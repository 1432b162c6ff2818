"""Whose file it is shows in what it says; what the originals made up is stored as absent, and nothing else is lost."""

import json
import random
import sys
from contextlib import suppress

import pytest

from experiments.library.imports import inspect, reading
from experiments.library.imports.reading import HoldsDataset
from experiments.library.imports.storing import proven
from experiments.library.imports.values import Unreadable
from tests.experiments.imports import folders
from tests.making import maker


@maker
def runs(tmp_path, /, data, name="file.json", source=""):
    """The runs of a file, each of which can be stored."""
    path = tmp_path / "file"
    path.write_bytes(data)
    found = list(reading.runs(path, name, source))
    return [(one, proven(one.taken) if one.taken else None) for one in found]


@pytest.fixture
def documents(runs):
    return lambda data, **how: [taken.document for _found, taken in runs(data, **how) if taken]


def said(document, **about):
    return [
        (one["turn"], one["seat"], one["text"])
        for one in document["messages"]
        if all(one.get(name) == value for name, value in about.items())
    ]


def test_an_arena_conversation_keeps_both_texts_but_no_error_as_speech_no_made_up_score_and_no_key(runs):
    [(_found, taken)] = runs(folders.read("arena.json"))
    document = taken.document
    first, second = document["messages"][:2]

    assert first["text"] == "I take the first four."
    assert first["raw_text"] == "My reasoning: four is more than three.\n\nI take the first four."
    assert (first["filter"]["status"], first["filter"]["confidence"]) == ("filtered", 0.95)
    assert (second["filter"]["status"], second["filter"]["confidence"]) == ("failed", None)
    assert (first["reasoning"], second["reasoning"]) == ("Four beats three.", "")
    assert document["run"]["started"].startswith("2026-01-18T10:40:00")

    assert (3, "A") not in [(turn, seat) for turn, seat, _text in said(document)]
    [call] = document["calls"]
    assert (call["state"], call["error"]) == ("failed", "Streaming Error: 429 Too Many Requests")

    found = {(one["turn"], one["subject"]): one for one in document["judgments"]}
    assert found[2, "B"]["scores"] is None
    assert "failed" in found[2, "B"]["unscored_reason"]
    assert found[1, "A"]["scores"]["deception"] == 0.35
    assert "goal_deviation" not in found[1, "A"]["scores"]
    assert found[2, "A"]["scores"]["goal_deviation"] == 30

    assert taken.kept["metricsA"]["tokensUsed"] == 1437
    assert {"turn": 1, "seat": "B", "mood": "calm", "tokensUsed": 60} in taken.kept["messages"]
    assert "canary" not in json.dumps([document, taken.kept])


def test_a_starchamber_talk_has_its_turns_and_a_council_its_ballots_read_anew(runs):
    [(_found, taken)] = runs(folders.read("starchamber.json"))
    document = taken.document
    assert [seat for _turn, seat, _text in said(document)] == ["researcher", "model", "researcher", "model"]
    assert document["experiment"]["config"]["persona"] == "Dr. Vega"
    assert document["calls"][0]["logprobs"][0]["alternatives"] == [{"token": "Papers", "logprob": -2.5}]
    assert [one["scores"] and one["scores"].get("cooperation") for one in document["judgments"]] == [None, 0.8]
    assert "canary" not in json.dumps([document, taken.kept])

    [(_found, taken)] = runs(folders.read("council.json"))
    document = taken.document
    ballots = {one["reviewer"]: one for one in document["ballots"]}
    assert ballots["member-1"]["order"] == [["member-2"], ["member-1"], ["member-3"]]
    assert ballots["member-2"]["order"] == [["member-1"], ["member-2"], ["member-3"]]
    assert ballots["member-3"]["order"] is None
    assert ballots["member-3"]["abstained_reason"]
    assert any("read again" in note for note in taken.notes)
    assert taken.kept["conversation"] == {"tags": ["optics"]}
    assert [text for _turn, _seat, text in said(document, purpose="conclusion")] == ["Blue light scatters most in air."]
    assert [call["error"] for call in document["calls"]] == ["Error: Unable to generate final synthesis."]


def test_a_debate_keeps_its_points_failures_and_addendum(documents):
    history = folders.read("debate.json")
    first, second = documents(history)
    parsed = {(one["turn"], one["seat"]): one.get("parsed", {}).get("kind") for one in first["messages"]}

    assert (parsed[1, "A"], parsed[1, "C"], parsed[2, "A"]) == ("points", "unread", "points")
    assert [call["error"] for call in first["calls"]] == ["OpenRouter 429: rate limited"]
    assert "The dome leaks in winter." in [text for _turn, _seat, text in said(first)]
    [summary] = [one for one in first["messages"] if one["purpose"] == "summary"]
    assert summary["parsed"]["recommended"][0]["contents"] == "Open a calendar."
    assert not [one for one in second["messages"] if one["purpose"] == "summary"]
    store = {"mla-history": history.decode(), "theme": "dark"}
    assert len(documents(json.dumps(store).encode())) == 2, "a browser's store is read as well"


def test_a_line_or_folder_of_matrixarena_has_no_zero_that_nobody_gave_and_a_broken_line_is_named(runs):
    log = folders.read("battles.jsonl")
    first, second = (taken.document for _found, taken in runs(log, name="battles.jsonl"))
    [cycle] = first["cycles"]

    assert set(cycle["means"].values()) == {8.9, 7.0}
    assert list(cycle["unrated"]) == ["coder-3"]
    assert len(second["cycles"][0]["means"]) == 3

    lines = log.splitlines()
    found = runs(b"\n".join([lines[0], b'{"broken": }', lines[1]]), name="battles.jsonl")
    assert [bool(taken) for _one, taken in found] == [True, False, True]
    assert found[1][0].place == "battles.jsonl, line 2"
    assert "not valid JSON" in found[1][0].refused

    line = {**folders.cycle()["cycles/20260311_143022_c1/summary.json"], "average_scores": {}}
    files = {**folders.cycle(), "battles.jsonl": json.dumps(line)}
    [(found, taken)] = runs(folders.zipped(files), name="data.zip")
    document = taken.document
    votes = {(one["subject"], one["judge_seat"]): one for one in document["judgments"]}

    assert found.place == "cycles/20260311_143022_c1"
    assert votes["coder-1", "coder-2"]["scores"] is None
    assert "timeout" in votes["coder-1", "coder-2"]["unscored_reason"]
    assert votes["coder-1", "coder-3"]["scores"]["overall"] == 8
    assert votes["coder-1", "coder-3"]["flags"] == ["overall_differs"]
    assert ("coder-1", "coder-1") not in votes
    assert document["cycles"][0]["means"] == {"coder-1": 8, "coder-2": 3.5}
    assert document["cycles"][0]["passed"] == {"coder-1": 0.5}
    assert [call["seat"] for call in document["calls"]] == ["coder-3"]


def test_each_sample_of_a_log_of_inspect_is_a_run(runs):
    scores = {"model_graded_fact": 1.0, "style_tone": 0.75, "style_length": 12.0}
    seats = ["researcher", "model", "tool", "model", "researcher", "model"]
    for how, data in (("json", folders.read("inspect.json")), ("eval", folders.zipped(folders.inspect_eval()))):
        (_one, first), (_other, second) = runs(data, name=f"log.{how}")

        assert [seat for _turn, seat, _text in said(first.document)] == seats, how
        assert first.document["experiment"]["config"]["context"] == "You are a security expert.", how
        [judgment] = first.document["judgments"]
        assert (judgment["scores"], judgment["unscored_reason"]) == (scores, "includes: no answer."), how
        assert first.document["messages"][-1]["flags"] == ["truncated"], how
        assert (second.document["run"]["state"], second.document["run"]["error"]) == ("failed", "RateLimitError"), how
        assert first.kept["sample"]["metadata"] == {"category": "web"}, how


def test_attachments_of_a_log_of_inspect_are_read_and_its_events_are_kept_within_bounds(runs, monkeypatch):
    log = json.loads(folders.read("inspect.json"))
    sample, asked = log["samples"][0], "A long question. " * 200
    sample["messages"][1]["content"] = "attachment://abc"
    sample["messages"][4]["content"][1]["text"] = "attachment://unknown"
    sample["attachments"] = {"abc": asked}
    sample["events"] = [{"event": "tool", "function": "search", "arguments": {"q": "sql"}, "result": "Found."}]

    (_one, first), _second = runs(json.dumps(log).encode(), name="log.json")
    monkeypatch.setattr(inspect, "MOST_HAPPENED", 100)
    (_one, shortened), _second = runs(json.dumps(log).encode(), name="log.json")

    texts = [text for _turn, _seat, text in said(first.document)]
    assert texts[0] == asked
    assert "attachment://unknown" in texts
    assert (first.kept["events"], first.kept["attachments"]) == (sample["events"], sample["attachments"])
    assert "events" not in shortened.kept
    assert shortened.notes[-1] == "The events of the log are longer than 100 characters and were left out."
    assert shortened.digest == first.digest


def test_battles_are_told_from_runs(runs):
    battles = folders.read("genarena.jsonl")
    for data in (battles, folders.zipped({"basic/pk_logs/x_20260101/m1_vs_m2.jsonl": battles})):
        with pytest.raises(HoldsDataset):
            runs(data)


def test_what_is_no_run_is_refused_in_words(runs):
    for data, words in (
        *((b"", "empty"), (b"\n \n", "empty"), (b"[" * 100_000, "nested")),
        *((b"PK\x03\x04 not really", "JSON"), (b"\xff\xfe\x00", "JSON")),
        *((b'{"a": 1}', "The format is not known"), (b"[1, 2]", "The format is not known")),
        (b'{"messages": "\\u0000"}', "cannot be stored"),
        (folders.zipped({"a.txt": "hello", "b.png": "x"}), "only .json and .jsonl files"),
        (b'{"run": "1", "experiment": "2", "workflow": "arena", "seat": "A", "raw_text": "x"}', "without its run"),
    ):
        try:
            said = " ".join(found.refused for found, _taken in runs(data))
        except Unreadable as error:
            said = str(error)
        assert words in said, data[:80]


def test_a_zip_that_grows_without_end_is_refused(runs, settings):
    settings.UPLOAD_BYTES = 1 << 20
    bomb = folders.zipped({f"{number}.json": b" " * (2 << 20) for number in range(8)})

    for start in (b"", b"[\n"):
        with pytest.raises(Unreadable, match="The unpacked data is larger than"):
            runs(folders.zipped({"a.json": start + b" " * (9 << 20)}), name="bomb.zip")
    assert any("The unpacked data is larger than" in found.refused for found, _taken in runs(bomb, name="bomb.zip"))


def test_a_zip_that_is_cut_off_or_damaged_is_refused(runs):
    for cut in range(1, 9):
        whole, dice = bytearray(folders.zipped(folders.cycle())), random.Random(cut)
        for _time in range(3):
            whole[dice.randrange(len(whole))] ^= 0xFF
        with suppress(Unreadable, HoldsDataset):
            found = runs(bytes(whole[: len(whole) - cut % 3]))
            assert all(one.taken or one.refused for one, _taken in found), cut


def calls_made(value):
    """How many calls of Python functions reading it takes: the same on every machine."""
    count = 0

    def called(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(called)
    try:
        assert [proven(one.taken).digest for one in reading.of_value(value, "file.json")]
    finally:
        sys.setprofile(None)
    return count


def test_a_file_of_ten_times_the_length_takes_about_ten_times_the_work():
    for name, many in (("arena", "conversation"), ("starchamber", "messages"), ("council", "messages")):
        value = json.loads(folders.read(f"{name}.json"))
        few, more = ({**value, many: value[many] * times} for times in (8, 80))
        assert calls_made(more) < 14 * calls_made(few), name
