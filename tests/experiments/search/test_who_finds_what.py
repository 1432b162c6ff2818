"""Nobody finds what is not theirs, on no way, and not even how much of it there is."""

import pytest

from accounts.models import Membership, Project, User
from experiments.library.search import finding
from experiments.models import Passage
from tests.experiments.search.transcripts import found, talk
from tests.experiments.sharing.published import approved
from tests.fixtures import signed_in

SECRET = "The aardvark sleeps."
NOTHING = {"next": None, "previous": None, "results": [], "datasets": [], "suggestion": ""}


@pytest.fixture
def lab(alice, charlie):
    """Alice's private talk; and of each other visibility one, said in their own words."""
    project = Project.objects.create(name="Solar lab")
    Membership.objects.create(project=project, user=charlie, role=Membership.Role.WATCHER)
    talk(alice, SECRET, title="Private")
    talk(alice, "The badger of the project.", title="Project", visibility="project", project=project)
    talk(alice, "The camel of the lab.", title="Lab", visibility="lab")
    approved(talk(alice, "The dingo of everybody.", title="Public", visibility="public"))


@pytest.mark.databases
@pytest.mark.parametrize("few", [1000, 0])
def test_what_is_found_is_what_may_be_seen(lab, alice, charlie, monkeypatch, few):
    monkeypatch.setattr(finding, "FEW", few)
    stranger = User.objects.create_user("stranger")
    gone = User.objects.create_user("gone", is_active=False)
    animals = {word: f"The {word}" for word in ("aardvark", "badger", "camel", "dingo")}

    def sees(person):
        return [word for word in animals if found(person, word)]

    assert sees(alice) == ["aardvark", "badger", "camel", "dingo"]
    assert sees(charlie) == ["badger", "camel", "dingo"]
    assert sees(stranger) == ["camel", "dingo"]
    assert sees(gone) == ["dingo"]


def test_a_project_is_a_filter_for_those_who_belong_to_it_as_long_as_they_do(lab, alice, charlie):
    asked = 'badger project:"solar lab"'
    assert found(charlie, asked) == ["The badger of the project."]
    assert found(alice, asked) == [], "she does not belong to it"
    Membership.objects.filter(user=charlie).delete()
    assert found(charlie, "badger") == found(charlie, asked) == []

    Passage.objects.get(kind="message", run__experiment__title="Public").run.messages.all().delete()
    assert found(alice, "dingo") == [], "what is deleted is found no more"


def test_the_page_and_the_api_tell_a_stranger_the_same_as_where_there_is_nothing(lab, alice):
    stranger = signed_in(User.objects.create_user("stranger"))

    for more in ("", "&page_size=1", "&cursor=99999&before=99999", "&state=ended"):
        theirs, nobodys = (stranger.get(f"/api/search/?q={word}{more}") for word in ("aardvark", "zebrafish"))
        page = stranger.get(f"/search/?q=aardvark{more}").content.decode()
        assert theirs.json() == nobodys.json() == NOTHING
        assert "Private" not in page
        assert "sleeps" not in page
