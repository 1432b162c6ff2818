"""Notes, words, views and favorites: what somebody keeps beside runs, who finds it and who changes it."""

import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from accounts.models import User
from accounts.tokens import create_token
from experiments.library.annotations import favorites, notes, saved_views, tags
from experiments.library.search.finding import find
from experiments.library.search.query import read
from experiments.models import Experiment, Export, Favorite, Note, Passage, SavedView, Tag, Tagging
from experiments.runs.reports import jobs
from experiments.runs.reports.formats import FORMATS
from tests.experiments.api.conftest import Api
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


def test_ones_own_notes_are_in_the_data_that_one_takes_away_and_in_nothing_handed_on_and_a_file_is_made_anew(
    browser, mia, alice, shared, make_files
):
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

    first = jobs.request_file(shared, by=alice, format_=FORMATS["jsonl"], language="en")
    make_files()
    assert b"Mine." in first.path.read_bytes()

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


def names(thing):
    return [word.name for word in tags.words_on(thing)]


@pytest.mark.databases
def test_a_word_in_another_case_or_width_is_the_same_word_of_the_owner_or_project(alice, mia, talk, shared, project):
    run, other = talk(), talk()
    tags.tag([run], "Ｌoops  twice", by=alice)
    tags.tag([other], "LOOPS twice", by=alice)
    assert Tag.objects.count() == 1
    assert names(other) == ["Ｌoops twice"]
    assert tags.tag([run], "loops TWICE", by=alice) == 0
    assert tags.untag([run, other], "LOOPS TWICE", by=alice) == 2
    assert tags.vocabulary(alice) == [], "it stands nowhere any more"

    for person, tagged in ((mia, shared), (alice, run)):
        tags.tag([tagged], "odd", by=person)
    owners = {(tag.project, tag.owner) for tag in Tag.objects.filter(name="odd")}
    assert owners == {(project, None), (None, alice)}
    for word in ("", "   ", "a,b", "x" * 41, "a\x00b"):
        with pytest.raises(Invalid):
            tags.tag([run], word, by=alice)


def test_whoever_may_only_look_tags_nothing_and_a_stranger_meets_no_word(
    client, will, charlie, mia, alice, shared, talk
):
    for person in (will, charlie):
        with pytest.raises(Forbidden):
            tags.tag([shared], "odd", by=person)
        with pytest.raises(Forbidden):
            tags.set_tags(shared, [], by=person)
    with pytest.raises(Forbidden):
        tags.tag([shared, talk(visibility="lab")], "odd", by=mia)
    assert not Tagging.objects.exists(), "all are tagged or none"
    assert tags.tag([shared], "odd", by=mia) == 1

    assert tags.vocabulary(charlie) == []
    tags.tag([talk(visibility="lab")], "open", by=alice)
    client.force_login(charlie)
    assert client.get(reverse("known-tags")).content.decode().count('<option value="open"></option>') == 1


@pytest.mark.databases
def test_runs_are_tagged_on_their_pages_or_in_the_list_and_found_by_their_words(
    browser, read, alice, talk, will, project
):
    run, two, other = talk(project=project, visibility="project"), talk(), talk()
    browser.post(reverse("run-tags", args=[run.pk]), {"tag": "odd", "do": "tag"})
    assert read(browser.get(run.get_absolute_url())).find("button", value="untag")
    watched = read(signed_in(will).get(run.get_absolute_url()))
    assert "odd" in watched.text
    assert not watched.find("button", value="untag")

    tags.tag([two.experiment], "Odd", by=alice)
    page = browser.get(reverse("runs"), {"tag": "ODD"}).content.decode()
    assert [str(one.pk) in page for one in (run, two, other)] == [True, True, False]
    assert "tag=odd" in page

    sent = {"run": [two.pk, other.pk], "tag": "even", "do": "tag", "query": "state=completed&page=2"}
    answer = browser.post(reverse("runs-chosen"), sent)
    assert answer["Location"] == reverse("runs") + "?state=completed"
    assert (names(two), names(other)) == (["even", "Odd"], ["even"])
    browser.post(reverse("runs-chosen"), {**sent, "do": "untag"})
    assert names(other) == []


def test_programs_tag_read_and_set_words(api, charlie, talk):
    one, two = talk(), talk()
    body = {"name": "odd", "runs": [str(one.pk), str(two.pk)], "experiments": [str(two.experiment_id)]}
    assert api.post("tags/", body).json() == {"changed": 3}
    assert [tag["name"] for tag in api.get("tags/").json()["results"]] == ["odd"]
    assert api.put(f"runs/{one.pk}/tags/", {"names": ["b", "a"]}).json() == {"names": ["a", "b"], "of_experiment": []}
    assert api.get(f"runs/{two.pk}/tags/").json() == {"names": ["odd"], "of_experiment": ["odd"]}
    assert api.post("tags/", {**body, "remove": True}).json() == {"changed": 2}
    assert api.post("tags/", {"name": "a,b", "runs": [str(one.pk)]}).status_code == 400
    assert Api(create_token(charlie)).post("tags/", body).status_code == 404


RUNS, HOME = reverse("runs"), reverse("home")


def test_a_view_leads_to_its_filters_and_the_default_one_is_shown_where_nothing_is_asked_for(browser, read, alice):
    assert saved_views.normal("state=failed&page=3&search=&tag=a%20b") == saved_views.normal("tag=a+b&state=failed")
    view = saved_views.save(by=alice, name="Failed", query="state=failed&page=2", is_default=True)
    page = read(browser.get(view.get_absolute_url()))
    [current] = [link for link in page.find("a", aria_current="page") + page.find("a") if link.text == "Failed"][-1:]

    assert view.get_absolute_url() == f"{RUNS}?state=failed"
    assert current.get("aria-current") == "page"
    assert "Change this view" in page.text
    assert not SavedView.objects.visible_to(User(pk=alice.pk, is_active=False)).exists()

    newer = saved_views.save(by=alice, name="Odd", query="tag=odd", is_default=True)
    saved_views.save(by=alice, name="Even", query="tag=even")
    assert browser.get(RUNS)["Location"] == newer.get_absolute_url()
    assert browser.get(RUNS, {"whose": "mine"}).status_code == 200
    assert SavedView.objects.filter(is_default=True).count() == 1
    for name, query in (("", "a=b"), ("x" * 61, "a=b"), ("x", "a=" + "b" * 1000)):
        with pytest.raises(Invalid):
            saved_views.save(by=alice, name=name, query=query)


def test_a_view_is_kept_from_the_list_renamed_and_deleted(browser, alice, project):
    sent = {"name": "Failed", "query": "state=failed", "project": str(project.pk), "is_default": "on"}
    answer = browser.post(reverse("view-new"), sent)
    view = SavedView.objects.get()
    assert answer["Location"] == view.get_absolute_url()
    assert (view.owner, view.project, view.is_default) == (alice, project, True)
    assert browser.post(reverse("view-new"), sent).status_code == 422

    browser.post(reverse("view", args=[view.pk]), {"name": "Broken"})
    view.refresh_from_db()
    assert (view.name, view.query) == ("Broken", "state=failed")
    browser.post(reverse("view-delete", args=[view.pk]))
    assert not SavedView.objects.exists()


def test_members_find_the_views_of_their_projects_and_change_none(alice, mia, charlie, project):
    view = saved_views.save(by=alice, name="Failed", query="state=failed", project=str(project.pk))

    assert "Failed" in signed_in(mia).get(RUNS).content.decode()
    assert "Failed</a>" not in signed_in(charlie).get(RUNS).content.decode()
    assert signed_in(mia).get(reverse("view", args=[view.pk])).status_code == 404
    with pytest.raises(Forbidden):
        saved_views.remove(view, by=mia)
    with pytest.raises(Invalid):
        saved_views.save(by=charlie, name="Failed", query="state=failed", project=str(project.pk))


def test_programs_keep_and_change_views(api, project):
    made = api.post("views/", {"name": "Failed", "query": "state=failed", "project": str(project.pk)}).json()
    address = f"views/{made['id']}/"

    assert [view["name"] for view in api.get("views/").json()["results"]] == ["Failed"]
    assert api.patch(address, {"is_default": True}).json() == {**made, "is_default": True}
    assert api.patch(address, {"project": ""}).json()["project"] is None
    assert api.post("views/", {"name": "failed", "query": ""}).status_code == 201
    assert api.patch(address, {"name": "failed"}).status_code == 400
    assert api.delete(address).status_code == 204


def test_the_button_marks_a_run_which_is_then_first_on_the_home_page(browser, read, alice, talk):
    run = talk("Hello.")
    sent = {"kind": "run", "key": str(run.pk), "next": run.get_absolute_url()}

    back = browser.post(reverse("favorite"), {**sent, "mark": ""})
    assert back["Location"] == run.get_absolute_url()
    [button] = [one for one in read(browser.get(run.get_absolute_url())).find("button") if one.get("name") == "unmark"]
    assert button.get("aria-pressed") == "true"
    assert "home-favorites" in browser.get(HOME).content.decode()

    part = browser.post(reverse("favorite"), {**sent, "unmark": ""}, headers={"HX-Request": "true"})
    assert 'aria-pressed="false"' in part.content.decode()
    assert f'id="favorite-run-{run.pk}"' in part.content.decode(), "by which the page knows it again"
    assert "home-favorites" not in browser.get(HOME).content.decode()
    away = {**sent, "mark": "", "next": "https://elsewhere.example/"}
    assert browser.post(reverse("favorite"), away)["Location"] == HOME, "the way back stays on this site"


def test_what_others_hide_can_be_marked_and_is_still_hidden_and_what_is_no_favorite_or_too_many_is_refused(
    alice, charlie, talk, monkeypatch
):
    too_long, unstorable = ("contestant", "x" * 201), ("contestant", "a\0b")
    for kind, key in (("user", "alice"), ("run", "the best"), ("board", ""), too_long, unstorable):
        with pytest.raises(Invalid):
            favorites.mark(kind, key, by=alice)
    assert not Favorite.objects.exists()

    favorites.mark("run", str(talk("Hello.").pk), by=charlie)
    favorites.mark("board", "nowhere", by=charlie)

    assert "home-favorites" not in signed_in(charlie).get(HOME).content.decode()
    assert favorites.marked(alice) == {"run": [], "board": [], "contestant": []}

    monkeypatch.setattr(favorites, "MOST", 1)
    first = favorites.mark("board", "one", by=alice)
    assert favorites.mark("board", "one", by=alice) == first
    with pytest.raises(Forbidden, match="You already have 1 favorites"):
        favorites.mark("board", "two", by=alice)
