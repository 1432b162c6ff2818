"""Words on runs and experiments: one word whatever its case, put there by whoever may change the thing."""

import pytest
from django.urls import reverse

from accounts.errors import Forbidden, Invalid
from accounts.tokens import create_token
from experiments.library.annotations import tags
from experiments.models import Tag, Tagging
from tests.cases import each_case
from tests.experiments.api.conftest import Api
from tests.fixtures import signed_in


def names(thing):
    return [word.name for word in tags.words_on(thing)]


@pytest.mark.databases
def test_a_word_in_another_case_or_width_is_the_same_word(alice, talk):
    run, other = talk(), talk()
    tags.tag([run], "Ｌoops  twice", by=alice)
    tags.tag([other], "LOOPS twice", by=alice)
    assert Tag.objects.count() == 1
    assert names(other) == ["Ｌoops twice"]
    assert tags.tag([run], "loops TWICE", by=alice) == 0

    assert tags.untag([run, other], "LOOPS TWICE", by=alice) == 2
    assert tags.vocabulary(alice) == [], "it stands nowhere any more"


def test_a_word_belongs_to_the_project_and_otherwise_to_the_owner(alice, mia, talk, shared, project):
    tags.tag([shared], "odd", by=mia)
    tags.tag([talk()], "odd", by=alice)

    assert {(tag.project, tag.owner) for tag in Tag.objects.all()} == {(project, None), (None, alice)}


def test_whoever_may_only_look_tags_nothing(will, charlie, mia, shared, talk):
    for person in (will, charlie):
        with pytest.raises(Forbidden):
            tags.tag([shared], "odd", by=person)
        with pytest.raises(Forbidden):
            tags.set_tags(shared, [], by=person)
    with pytest.raises(Forbidden):
        tags.tag([shared, talk(visibility="lab")], "odd", by=mia)
    assert not Tagging.objects.exists(), "all are tagged or none"
    assert tags.tag([shared], "odd", by=mia) == 1


@each_case("word", ["", "   ", "a,b", "x" * 41, "a\x00b"])
def test_what_is_no_word_is_refused(alice, talk, word):
    with pytest.raises(Invalid):
        tags.tag([talk()], word, by=alice)


def test_a_stranger_meets_no_word_of_what_they_may_not_see(client, charlie, alice, talk):
    tags.tag([talk()], "secret", by=alice)
    assert tags.vocabulary(charlie) == []

    tags.tag([talk(visibility="lab")], "open", by=alice)
    client.force_login(charlie)
    assert client.get(reverse("known-tags")).content.decode().count('<option value="open"></option>') == 1


@pytest.mark.databases
def test_the_list_of_runs_shows_words_and_finds_by_them(browser, read, alice, talk):
    tagged, of_experiment, other = talk(), talk(), talk()
    tags.tag([tagged], "odd", by=alice)
    tags.tag([of_experiment.experiment], "Odd", by=alice)
    page = browser.get(reverse("runs"), {"tag": "ODD"}).content.decode()

    assert str(tagged.pk) in page
    assert str(of_experiment.pk) in page
    assert str(other.pk) not in page
    assert "tag=odd" in page


def test_the_ticked_runs_are_tagged_at_once_and_the_list_stays_as_it_was(browser, talk):
    one, two = talk(), talk()
    sent = {"run": [one.pk, two.pk], "tag": "odd", "do": "tag", "query": "state=completed&page=2"}
    answer = browser.post(reverse("runs-chosen"), sent)

    assert answer["Location"] == reverse("runs") + "?state=completed"
    assert (names(one), names(two)) == (["odd"], ["odd"])
    browser.post(reverse("runs-chosen"), {**sent, "do": "untag"})
    assert names(one) == []


def test_a_run_is_tagged_on_its_page(browser, read, talk, will, project):
    run = talk(project=project, visibility="project")
    browser.post(reverse("run-tags", args=[run.pk]), {"tag": "odd", "do": "tag"})

    assert read(browser.get(run.get_absolute_url())).find("button", value="untag")
    watched = read(signed_in(will).get(run.get_absolute_url()))
    assert "odd" in watched.text
    assert not watched.find("button", value="untag")


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
