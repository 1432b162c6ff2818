"""What somebody writes beside a run: for themselves, or for all who may see it; never for anybody else."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from experiments.library.annotations import notes
from experiments.library.search.finding import find
from experiments.library.search.query import read
from experiments.models import Experiment, Export, Note, Passage
from experiments.runs.reports import jobs
from experiments.runs.reports.formats import FORMATS
from tests.experiments.sharing.published import approved
from tests.fixtures import signed_in


def texts(run, reader):
    return [note.text for note in notes.notes_on(run, reader)]


def test_a_note_is_its_authors_until_they_share_it_with_all_who_may_see_the_run(
    client, alice, mia, charlie, shared, talk
):
    note = notes.write(shared, "Odd.", by=alice)
    assert texts(shared, mia) == []
    notes.revise(note, by=alice, text="Odd!\r\n\r\nSo.", shared=True)
    assert (texts(shared, mia), texts(shared, charlie)) == (["Odd!\n\nSo."], [])
    assert note.edited is not None
    with pytest.raises(Forbidden):
        notes.revise(note, by=mia, text="Fine.", shared=True)
    with pytest.raises(Forbidden):
        notes.remove(note, by=mia)

    notes.write(shared, "Mine.", by=mia)
    Experiment.objects.filter(pk=shared.experiment_id).update(visibility="lab")
    assert texts(shared, charlie) == ["Odd!\n\nSo."]
    Experiment.objects.filter(pk=shared.experiment_id).update(visibility="private")
    assert not Note.objects.written_by(mia).exists(), "gone with the right to see the run"
    Experiment.objects.filter(pk=shared.experiment_id).update(visibility="public")
    approved(shared)
    assert "Odd!" not in client.get(shared.get_absolute_url()).content.decode(), "visitors read no notes"
    for text in ("", " \n", "x" * 20_001, "a\x00b"):
        with pytest.raises(Invalid):
            notes.write(shared, text, by=alice)
    with pytest.raises(Invalid):
        notes.write(shared, "On a message of another run.", by=alice, message=talk().messages.first())


def test_a_note_is_written_on_the_page_rendered_safely_edited_and_deleted(browser, read, talk):
    run = talk()
    message = run.messages.first()
    answer = browser.post(reverse("message-note", args=[message.pk]), {"text": "**Odd** <script>alert(1)</script>"})
    page = read(browser.get(run.get_absolute_url()))
    [note] = page.find("article", class_="person-note")

    assert answer["Location"].endswith(f"#note-{run.notes.get().pk}")
    assert note.get("data-message") == f"message-{message.pk}"
    assert [strong.text for strong in note.findall(".//strong")] == ["Odd"]
    assert not note.findall(".//script")
    listed = read(browser.get(reverse("run-notes", args=[run.pk])))
    assert "Odd" in listed.text
    assert listed.find("textarea")

    kept = reverse("note", args=[run.notes.get().pk])
    browser.post(kept, {"text": "Even.", "shared": "on"})
    assert run.notes.get().text == "Even."
    assert browser.post(kept, {"text": " "}).status_code == 422
    browser.post(reverse("note-delete", args=[run.notes.get().pk]))
    assert not Note.objects.exists()


def test_programs_write_read_and_change_notes(api, talk):
    run = talk()
    message = str(run.messages.first().pk)
    made = api.post(f"runs/{run.pk}/notes/", {"text": "Odd.", "message": message})
    note = f"notes/{made.json()['id']}/"

    assert (made.status_code, made.json()["author"], made.json()["shared"]) == (201, "alice", False)
    assert [one["message"] for one in api.get(f"runs/{run.pk}/notes/").json()["results"]] == [message]
    assert api.patch(note, {"shared": True}).json()["text"] == "Odd."
    assert api.patch(note, {"text": " "}).status_code == 400
    assert api.delete(note).status_code == 204
    assert api.get(note).status_code == 404


def rows(answer):
    return [json.loads(line) for line in b"".join(answer).splitlines()]


def test_ones_own_notes_are_in_the_data_that_one_takes_away_and_in_nothing_handed_on(browser, mia, alice, shared):
    notes.write(shared, "Mine.", by=alice)
    notes.write(shared, "Shared by another.", by=mia, shared=True)
    lines = rows(browser.get(reverse("run-export", args=[shared.pk, "jsonl"])))
    report = json.loads(b"".join(browser.get(reverse("run-report", args=[shared.pk, "json"]))))

    assert [line["text"] for line in lines if line["kind"] == "note"] == ["Mine."]
    assert [note["text"] for note in report["notes"]] == ["Mine."]
    assert not [line for line in rows(signed_in(mia).get(f"/runs/{shared.pk}/export/jsonl/")) if "Mine." in str(line)]
    for name in ("html", "md"):
        text = b"".join(browser.get(reverse("run-report", args=[shared.pk, name])))
        assert b"Mine." not in text
        assert b"Shared by another." not in text


def test_a_file_that_a_worker_makes_has_the_notes_of_whoever_asked_and_is_made_anew(alice, shared, make_files):
    notes.write(shared, "First.", by=alice)
    first = jobs.request_file(shared, by=alice, format_=FORMATS["jsonl"], language="en")
    make_files()
    assert b"First." in first.path.read_bytes()

    notes.write(shared, "Second.", by=alice)
    second = jobs.request_file(shared, by=alice, format_=FORMATS["jsonl"], language="en")
    make_files()
    assert second.pk != first.pk
    assert b"Second." in second.path.read_bytes()
    assert Export.objects.filter(owner=alice).count() == 1


def found(person, words="heliotrope"):
    return [
        "".join(part.text for part in hit.parts) for hit in find(read(words), person).hits if hit.passage.kind == "note"
    ]


@pytest.mark.databases
def test_a_note_is_found_by_its_author_until_they_share_it_or_it_is_gone_also_once_all_is_indexed_anew(
    alice, mia, charlie, shared
):
    note = notes.write(shared, "Compare with heliotrope.", by=alice)
    assert (found(alice), found(mia)) == (["Compare with heliotrope."], [])

    notes.revise(note, by=alice, text="Heliotrope it is.", shared=True)
    assert (found(mia), found(mia, "compare")) == (["Heliotrope it is."], [])
    assert found(charlie) == [], "who may not see the run"
    Passage.objects.filter(kind="note").delete()
    assert found(alice) == []
    call_command("reindex")
    assert (found(alice), found(mia)) == (["Heliotrope it is."], ["Heliotrope it is."])

    notes.remove(note, by=alice)
    assert found(alice) == []
