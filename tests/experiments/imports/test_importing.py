"""Files of other systems become runs of whoever sends them, each once; what they had made up is stored as absent."""

import json
import random
import sys
from contextlib import suppress

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.errors import Forbidden
from accounts.models import User
from experiments.library.imports import inspect, queueing, reading, storing
from experiments.library.imports.reading import HoldsDataset
from experiments.library.imports.storing import proven
from experiments.library.imports.values import Unreadable
from experiments.models import Dataset, Experiment, ImportedRun, Run, RunImport
from experiments.models.waiting import WorkState
from experiments.runs import timeline
from experiments.workflows.battles.campaign.logs.importing import make_dataset
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


FILES = {  # whose it is, how many runs are in it, and what one of their pages shows
    "arena.json": ("arena", 1, "I take the first four."),
    "starchamber.json": ("starchamber", 1, "Nothing that has a name on it."),
    "council.json": ("council", 1, "Blue light scatters most in air."),
    "debate.json": ("debate", 2, "Mend the dome first."),
    "battles.jsonl": ("matrixarena", 2, "Chrono-Gated Courier Network"),
    "inspect.json": ("inspect", 2, "Found: parameters."),
    "cycle.zip": ("matrixarena", 1, "Largest less smallest."),
}


def contents(name):
    return folders.zipped(folders.cycle()) if name == "cycle.zip" else folders.read(name)


@pytest.fixture(autouse=True)
def uploads_of_their_own(settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path / "uploads"


@maker
def send(alice, /, name, data=None, *, by=None, **how):
    file = SimpleUploadedFile(name, contents(name) if data is None else data)
    return queueing.keep(file, by=by or alice, language="en", **how)


def test_runs_are_stored_as_imported_and_their_pages_show_what_was_said(send, browser):
    for name, (source, count, phrase) in FILES.items():
        row = send(name, is_wanted=True)

        assert (row.state, row.report["stored"]) == (WorkState.DONE, count), (row.error, row.report)
        pages = []
        for run in Run.objects.filter(imported__file_sha256=row.sha256):
            assert (run.origin, run.imported.source) == (Run.Origin.IMPORTED, source), name
            replayed = timeline.replayed(run.events.all())
            assert [entry.anchor for entry in timeline.from_rows(run)] == [entry.anchor for entry in replayed], name
            page = browser.get(run.get_absolute_url())
            assert page.status_code == 200, name
            assert row.sha256 in page.content.decode(), name
            pages.append(page.content.decode())
        assert len(pages) == count
        assert phrase in "".join(pages), name
        assert not row.folder.exists(), name


@pytest.mark.databases
def test_the_same_file_makes_nothing_new_unless_it_is_somebody_elses_or_its_run_was_deleted(send):
    send("debate.json", is_wanted=True)

    again = send("renamed.json", contents("debate.json"), is_wanted=True)

    assert (again.report["stored"], again.report["known"]) == (0, 2)
    assert Run.objects.count() == ImportedRun.objects.count() == 2
    assert send("debate.json", by=User.objects.create_user("bob"), is_wanted=True).report["stored"] == 2
    Experiment.objects.all().delete()
    assert send("debate.json", is_wanted=True).report["stored"] == 2


def test_a_preview_stores_nothing_until_its_sender_says_so_and_nothing_once_cancelled_or_forgotten(send):
    row, other = send("council.json"), send("council.json")
    assert (row.state, row.report["found"], Run.objects.count()) == (WorkState.READY, 1, 0)
    assert row.report["runs"][0]["models"] == ["google/gemini-3-pro", "openai/gpt-5.1", "x-ai/grok-4"]

    forgotten = send("arena.json")
    RunImport.objects.filter(pk=forgotten.pk).update(created="2020-01-01T00:00Z")
    queueing.sweep()
    forgotten.refresh_from_db()
    assert (forgotten.state, forgotten.path.exists()) == (WorkState.CANCELLED, False)
    assert queueing.cancel(other)
    assert not other.folder.exists()
    assert queueing.confirm(other).state == WorkState.CANCELLED
    assert not Run.objects.exists()
    for _time in range(2):
        row = queueing.confirm(row)
        assert (row.state, Run.objects.count()) == (WorkState.DONE, 1)


def test_what_cannot_be_read_is_refused_with_its_place_and_does_not_keep_the_others_out(send):
    broken = [*json.loads(contents("debate.json")), {"rawPrompt": "", "finalPrompt": "", "summaryResult": None}]

    row = send("debate.json", json.dumps(broken).encode(), is_wanted=True)
    no_json = send("broken.json", b'{"messages": [\n  {"role": \n]}')
    of_another = send("council.json", source="matrixarena")

    assert (row.report["stored"], row.report["refused"]) == (2, 1)
    assert row.report["refusals"][0]["place"] == "debate.json [2]"
    assert (no_json.state, of_another.state) == (WorkState.FAILED, WorkState.FAILED)
    assert "line 3" in no_json.error
    assert "LLM Council" in of_another.error
    report = storing.Report()
    for number in range(103):
        report.refuse(f"a.json [{number}]", "It has no messages.")
    assert (report.refused, len(report.refusals), report.refusals[-1]["place"]) == (103, 100, "a.json [99]")


def test_a_large_file_is_left_to_a_worker(send, monkeypatch, django_capture_on_commit_callbacks):
    rung = []
    monkeypatch.setattr(queueing, "AT_ONCE_BYTES", 10)
    monkeypatch.setattr(queueing, "wake", lambda: rung.append(True))
    with django_capture_on_commit_callbacks(execute=True):
        row = send("arena.json", is_wanted=True)
    assert (row.state, rung) == (WorkState.QUEUED, [True])
    assert row.folder.stat().st_mode & 0o777 == 0o700

    queueing.read_all(queueing.threading.Event())

    row.refresh_from_db()
    assert (row.state, row.progress, Run.objects.count()) == (WorkState.DONE, 1, 1)


@pytest.mark.databases
def test_a_worker_that_was_ended_half_way_is_followed_by_another(send):
    row = send("debate.json", is_wanted=True)
    Run.objects.order_by("created").last().experiment.delete()
    row.path.parent.mkdir(parents=True)
    row.path.write_bytes(contents("debate.json"))
    RunImport.objects.update(state=WorkState.RUNNING, beat="2020-01-01T00:00Z", attempt=1)

    queueing.waiting.sweep(RunImport)
    queueing.read_all(queueing.threading.Event())

    row.refresh_from_db()
    assert (row.state, row.report["stored"], row.report["known"]) == (WorkState.DONE, 1, 1)


@pytest.mark.databases
def test_battles_become_a_dataset_unless_they_are_refused_or_cancelled(send):
    damaged = contents("genarena.jsonl") + b'{"model_a": "x", "model_b": "y", "winner": "z"}\n'
    refused = send("genarena.jsonl", damaged, is_wanted=True)
    assert (refused.state, refused.dataset, Dataset.objects.count()) == (WorkState.FAILED, None, 0)
    assert "winner is" in refused.error

    begun = send("genarena.jsonl")
    RunImport.objects.filter(pk=begun.pk).update(dataset=make_dataset(owner=begun.owner, name="Begun"))
    queueing.cancel(begun)
    queueing.sweep()
    assert not Dataset.objects.exists()

    row = send("genarena.jsonl", is_wanted=True)

    assert (row.state, row.source) == (WorkState.DONE, "genarena"), row.error
    assert row.dataset == Dataset.objects.get()
    assert row.dataset.boards.get().battles.count() == 2


def test_who_may_not_import_or_has_too_many_files_waiting_is_refused(send, alice):
    for _time in range(queueing.MOST_WAITING):
        send("arena.json")
    with pytest.raises(Forbidden, match="still wait"):
        send("arena.json")

    RunImport.objects.all().delete()
    User.objects.filter(pk=alice.pk).update(role="reviewer")
    with pytest.raises(Forbidden, match="researcher"):
        send("arena.json", by=User.objects.get(pk=alice.pk))
