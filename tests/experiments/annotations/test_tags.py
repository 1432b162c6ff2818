"""Words on runs and experiments: one word whatever its case, put there by whoever may change the thing."""

import pytest
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from accounts.tokens import create_token
from experiments.library.annotations import tags
from experiments.models import Tag, Tagging
from tests.experiments.api.conftest import Api
from tests.fixtures import signed_in


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
