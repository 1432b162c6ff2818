"""The branches of an experiment on its page; and two runs side by side."""

import re

import pytest
from django.urls import reverse

from tests.experiments.repeated import branched, ended, judged, said

pytestmark = pytest.mark.django_db


def page_of(experiment):
    return reverse("experiment", args=[experiment.pk])


@pytest.fixture
def experiment(arena):
    return arena()


@pytest.fixture
def talk(experiment):
    run = ended(experiment, 7)
    for turn in (1, 2):
        for seat in "AB":
            said(run, turn, seat, f"The offer of side {seat} in turn {turn} is seven panels.")
    judged(run, "A", 10, 30)
    return run


def test_branches_are_shown_as_nested_lists(browser, read, talk):
    child = branched(talk.messages.get(turn=2, seat="A"), "The offer of side A in turn 2 is nine panels.")
    page = read(browser.get(page_of(talk.experiment)))
    [tree] = [ul for ul in page.find("ul") if ul.get("class") == "tree"]
    [inner] = [ul for ul in tree.iter() if ul.get("class") == "tree-branches"]
    [item] = list(inner.iterchildren("li"))

    assert "at turn 2, Model A" in item.text
    assert "edited by alice" in item.text
    links = {a.text: a.get("href") for a in item.iter("a")}
    assert links["Branch"] == child.get_absolute_url()
    assert links["at turn 2, Model A"].endswith(f"#message-{talk.messages.get(turn=2, seat='A').pk}")
    assert reverse("run-compare", args=[talk.pk, child.pk]) in links.values()


def test_lists_within_lists_are_well_nested(browser, read, talk):
    first = branched(talk.messages.get(turn=1, seat="A"))
    branched(first.messages.get(turn=1, seat="A"))
    branched(talk.messages.get(turn=2, seat="B"))
    html = browser.get(page_of(talk.experiment)).content.decode()
    tree = html[html.index('<ul class="tree">') : html.index("</section>", html.index('<ul class="tree">'))]

    depth = []
    for closing, tag in re.findall(r"<(/?)(ul|li)\b", tree):
        if closing:
            assert depth.pop() == tag
        else:
            assert tag == ("li" if depth and depth[-1] == "ul" else "ul"), depth
            depth.append(tag)
    assert depth == []


def test_a_branch_counts_only_when_it_is_asked_for(browser, read, talk):
    judged(branched(talk.messages.get(turn=1, seat="A")), "A", 50)
    address = page_of(talk.experiment)

    assert "1 of 2 runs count. Left out: 1 branched from another run." in read(browser.get(address)).text
    assert "2 of 2 runs count." in read(browser.get(f"{address}?with=branch")).text


def test_two_runs_are_shown_side_by_side(browser, read, talk):
    child = branched(talk.messages.get(turn=2, seat="A"), "The offer of side A in turn 2 is nine panels.")
    page = read(browser.get(reverse("run-compare", args=[talk.pk, child.pk])))

    assert "Identical up to turn 1." in page.text
    assert "The first 2 messages are the same in both." in page.text
    assert [gone.text for gone in page.find("del")] == ["seven"]
    assert [new.text for new in page.find("ins")] == ["nine"]
    assert "not in run 2" in page.text
    assert "edited by alice" in page.text
    [row] = [row for row in page.find("tr") if row.text.startswith("Goal deviation in the last turn")][:1]
    assert row.text.endswith("30 –")


def test_what_replaced_an_answer_is_compared_and_not_the_answer(browser, read, talk):
    child = branched(talk.messages.get(turn=2, seat="B"))
    address = reverse("run-compare", args=[talk.pk, child.pk])
    assert "identical throughout" in read(browser.get(address)).text

    child.messages.filter(turn=1, seat="B").update(superseded=True)
    assert "not in run 2" in read(browser.get(address)).text
