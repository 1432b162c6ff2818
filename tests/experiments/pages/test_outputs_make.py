"""Asking models for outputs on a dataset: the form, what it may come to, and the campaign that makes them."""

import pytest
from django.urls import reverse

from experiments.library.datasets import demonstration
from experiments.models import Campaign, Experiment, Output
from tests.experiments.pages.painted import assert_same_page
from tests.fixtures import add_model, wait_until

MODEL = "sim/cooperative:first=0:tps=0"


@pytest.fixture
def texts(provider, alice):
    add_model(MODEL)
    return demonstration.make_text(alice)


@pytest.fixture
def address(texts):
    return reverse("outputs-make", args=[texts.slug])


def test_models_are_asked_and_their_answers_become_outputs(browser, read, texts, address, drive):
    sent = {"makers-0-model": MODEL, "makers-0-name": "newcomer", "makers-1-model": "", "subsets": [""]}
    response = browser.post(address, {**sent, "makers-0-temperature": "0.5"})
    experiment = Experiment.objects.get()
    assert response["Location"] == reverse("experiment", args=[experiment.pk])
    assert experiment.participants.get().params == {"temperature": 0.5}

    wait_until(lambda: drive() or not Campaign.objects.filter(state="running").exists(), "the end of the campaign")
    newcomer = texts.contestants.get(name="newcomer")
    assert newcomer.model.slug == MODEL
    assert Output.objects.filter(contestant=newcomer).exclude(text="").count() == 12
    page = read(browser.get(response["Location"]))
    assert "12 of 12" in page.by_id("status").text
    assert page.find("a", href=f"/battles/?dataset={texts.slug}")
    for run in experiment.runs.all():
        assert_same_page(run)
        told = read(browser.get(run.get_absolute_url())).by_id("transcript").text
        assert told.count("has answered") == len(run.overrides["tasks"])


def test_what_is_wrong_is_said_and_what_was_typed_stays(browser, read, address):
    for sent, said in (
        ({}, "Choose at least one model"),
        ({"makers-0-model": MODEL, "makers-1-model": MODEL}, "Two contestants would have the name"),
        ({"makers-0-model": MODEL, "makers-0-name": "pebble"}, "outputs from another source"),
        ({"makers-0-model": "no/such"}, "no available model"),
    ):
        response = browser.post(address, {**sent, "subsets": [""], "title": "My outputs"})
        assert (response.status_code, said in read(response).text) == (422, True), said
        assert read(response).form(id="setup")["title"] == "My outputs"
    assert not Experiment.objects.exists()


def test_those_that_lack_outputs_are_offered_first_of_datasets_of_texts_alone_and_the_preview_follows_the_form(
    browser, read, texts, address, charlies, charlie, alice
):
    preview = reverse("outputs-make-estimate", args=[texts.slug])
    sent = {"makers-0-model": MODEL, "subsets": [""]}
    assert "<b>12</b> outputs" in browser.post(preview, sent).content.decode()
    assert "Choose at least one model" in browser.post(preview, {"subsets": [""]}).content.decode()

    texts.contestants.create(name="half-done", model=add_model(MODEL))
    page = read(browser.get(address))
    assert "12 outputs" in page.text
    offered = page.form(id="setup")
    assert (offered["makers-0-model"], offered["makers-0-name"]) == (MODEL, "half-done")
    assert offered["makers-1-model"] == ""

    charlie.role = charlie.Role.CURATOR
    charlie.save()
    pictures = demonstration.make_images(alice)

    assert charlies.get(address).status_code == 200
    assert charlies.get(reverse("outputs-make", args=[pictures.slug])).status_code == 404
