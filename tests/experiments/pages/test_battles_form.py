"""Setting up battles: the form, what it offers of a dataset, what it may come to, and what it says is wrong."""

import pytest
from django.urls import reverse

from experiments.library.datasets import demonstration
from experiments.library.instruments import services
from experiments.library.instruments.builtin import builtin
from experiments.models import Campaign, Dataset, Experiment, ModelPrice
from tests.fixtures import add_model
from tests.making import maker
from tests.markup import is_sent

ADDRESS = "/battles/"
JUDGE = "sim/neutral:first=0"


@pytest.fixture(autouse=True)
def judge(provider):
    return add_model(JUDGE)


@pytest.fixture
def texts(alice):
    return demonstration.make_text(alice)


@maker
def form(browser, read, texts, /, address=ADDRESS, **changes):
    """What a browser would send of the form as it is shown; lists hold every box that is ticked."""
    page = read(browser.get(address))
    sent = page.form(id="setup")
    for name in ("contestants", "subsets"):
        sent[name] = [box.get("value") for box in page.find("input", name=name) if is_sent(box)]
    sent["seat-judge-model"] = JUDGE
    return {**sent, **{name.replace("__", "-"): value for name, value in changes.items()}}


def test_a_dataset_and_a_judge_are_all_that_is_needed(browser, form):
    sent = form()
    response = browser.post(ADDRESS, sent)

    experiment = Experiment.objects.get()
    assert response["Location"] == reverse("experiment", args=[experiment.pk])
    heard = {"dataset": demonstration.TEXT, "contestants": [], "subsets": []}
    assert {name: experiment.config[name] for name in heard} == heard
    assert experiment.config["sampling"]["plan"] == "all"
    assert Campaign.objects.get(pk=experiment.pk).state == Campaign.State.RUNNING

    again = browser.post(ADDRESS, sent)
    assert (again.status_code, "already" in again.content.decode()) == (409, True)
    assert Experiment.objects.count() == Campaign.objects.count() == 1


def test_a_copy_of_a_built_in_instrument_is_chosen_where_prompts_are(browser, form, read, alice, bob):
    copied = builtin()["battle_text_quality"].definition.model_dump(mode="json")
    [mine, theirs] = [services.save(owner=one, title=f"Of {one}", definition=copied) for one in (alice, bob)]
    services.save(owner=alice, title="Of a message", definition={**copied, "unit": "message"})
    page = read(browser.get(ADDRESS))
    names = ["text_instruction", "text_quality", str(mine.pk)]
    assert [box.get("value") for box in page.find("input", name="prompt")] == names
    assert browser.post(ADDRESS, form(prompt=str(theirs.pk))).status_code == 422

    browser.post(ADDRESS, form(prompt=str(mine.pk)))
    [experiment] = Experiment.objects.all()
    assert experiment.config["instrument"]["version"] == str(mine.pk)
    assert experiment.config["prompt"].startswith("instrument: Of alice")
    again = read(browser.get(f"{ADDRESS}?clone={experiment.pk}"))
    assert [box.get("value") for box in again.find("input", name="prompt") if is_sent(box)] == [str(mine.pk)]


def test_advanced_settings_arrive(browser, form, texts):
    other = add_model("sim/cooperative:first=0")
    names = list(texts.contestants.order_by("name").values_list("name", flat=True))[:2]
    sent = form(version="spring_20260301", calls="sequential", side_by_side="3", attempts="0", limits__cost="2.5")
    sent |= {"seat-judge-temperature": "0.5", "seat-judge-2-model": other.slug, "title": "Spring"}
    sent |= {"contestants": names, "sampling-plan": "sample", "sampling-per_pair": "3"}
    browser.post(ADDRESS, sent)

    experiment = Experiment.objects.get()
    config = experiment.config
    heard = {"calls": "sequential", "side_by_side": 3, "version": "spring_20260301", "attempts": 0}
    assert {name: config[name] for name in heard} == heard
    assert (experiment.title, config["limits"]["cost"], sorted(config["contestants"])) == ("Spring", 2.5, names)
    assert (config["sampling"]["plan"], config["sampling"]["per_pair"]) == ("sample", 3)
    judges = {one.seat: (one.model.slug, one.params) for one in experiment.participants.select_related("model")}
    assert judges == {"judge": (JUDGE, {"temperature": 0.5}), "judge-2": (other.slug, {"temperature": 0.5})}


def test_what_is_wrong_is_said_and_what_was_typed_stays(browser, form, read):
    for wrong, said in (
        ({"dataset": "nowhere", "shown": "nowhere"}, "not one of the available choices"),
        ({"contestants": []}, "Choose at least two contestants"),
        ({"sampling__plan": "sample", "sampling__per_pair": ""}, "Enter the number of samples"),
        ({"prompt": "image_edit"}, "not one of the available choices"),
    ):
        response = browser.post(ADDRESS, form(title="My spring", **wrong))
        page = read(response)
        assert (response.status_code, said in page.text) == (422, True), said
        assert "dataset" in wrong or page.form(id="setup")["title"] == "My spring"
    assert not Experiment.objects.exists()


def test_another_dataset_shows_its_own_contestants_and_keeps_the_rest(browser, form, read, alice, texts):
    pictures = demonstration.make_images(alice)
    add_model("sim/judge:first=0:see=1", capabilities={"images": True})
    for sent in ({"choose": "dataset"}, {}):
        filled = form(f"{ADDRESS}?dataset={texts.slug}", dataset=pictures.slug, title="Kept", **sent)
        page = read(browser.post(ADDRESS, filled))
        names = {box.get("value") for box in page.find("input", name="contestants")}
        assert names == set(pictures.contestants.values_list("name", flat=True))
        assert page.form(id="setup")["title"] == "Kept"
    assert not Experiment.objects.exists()


def test_a_dataset_offers_only_judges_and_contestants_that_can_take_part_and_without_one_the_next_step_is_to_load_it(
    browser, read, alice, texts, charlies
):
    texts.contestants.create(name="empty-handed")
    texts.contestants.filter(name=texts.contestants.first().name).update(void_reason="It cheated.")
    page = read(browser.get(ADDRESS, {"dataset": texts.slug}))
    boxes = {box.get("value"): box for box in page.find("input", name="contestants")}
    assert "disabled" in boxes["empty-handed"].attrib
    assert "left out: It cheated." in page.text

    pictures = demonstration.make_images(alice)
    seeing = add_model("sim/judge:first=0:see=1", capabilities={"images": True})
    page = read(browser.get(ADDRESS, {"dataset": pictures.slug}))
    offered = [one.get("value") for one in page.by_id("id_seat-judge-model").findall(".//option")]
    assert offered == [seeing.slug]
    assert JUDGE in page.text
    assert "needs models that take images" in page.text
    prompts = {one.get("value") for one in page.find("input", name="prompt")}
    assert prompts == {"image_edit", "image_generation"}

    Dataset.objects.update(visibility="private")
    page = read(charlies.get(ADDRESS))

    assert [link.text for link in page.find("a", href="/datasets/new/")] == ["Load a dataset"]
    assert not page.find(id="setup")
    assert charlies.get(ADDRESS, {"dataset": texts.slug}).status_code == 404


def test_the_preview_follows_the_form(browser, form, judge):
    address = reverse("battles-estimate")
    everything = browser.post(address, form()).content.decode()
    assert all(words in everything for words in ("<b>72</b> battles", "<b>144 calls</b>", "price unknown"))

    ModelPrice.objects.create(model=judge, since="2026-01-01T00:00:00Z", input="0.000001", output="0.000001")
    some = browser.post(address, form(sampling__plan="sample", sampling__per_pair="2")).content.decode()
    assert ("<b>12</b> battles" in some, "<b>$" in some) == (True, True)
    adaptive = form(sampling__plan="adaptive", sampling__min_per_pair="2", sampling__max_per_pair="3")
    assert "<b>12</b>" in browser.post(address, adaptive).content.decode()
