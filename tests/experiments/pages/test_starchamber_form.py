"""Setting up a talk: only the first message is missing, and what was typed is kept when something is wrong."""

import pytest
from django.urls import reverse

from experiments.library.builtin import builtin_presets
from experiments.models import Experiment
from tests.fixtures import add_model

ADDRESS = "/starchamber/"
FIRST = "Who <b>are</b> you?\nReally?"


@pytest.fixture
def filled(browser, provider, read):
    """What a browser would send if only the first message were typed."""
    add_model("sim/cooperative:first=0", label="Anna")
    return {**read(browser.get(ADDRESS)).form(id="setup"), "first_message": FIRST}


def test_a_model_that_gives_no_probabilities_is_said_to(browser, provider, read):
    add_model("sim/neutral:first=0", label="Aaron", capabilities={"logprobs": False})
    page = read(browser.get(ADDRESS))

    assert "does not provide token probabilities" in page.by_id("estimate").text, "it is the first of the list"
    unwanted = {name: value for name, value in page.form(id="setup").items() if name != "logprobs"}
    assert "probabilities" not in read(browser.post(reverse("starchamber-estimate"), unwanted)).text


def test_a_preset_is_named_in_the_address_and_is_custom_once_edited(send, browser, read):
    form = read(browser.get(f"{ADDRESS}?preset=debate")).form(id="setup")
    assert (form["preset"], form["context"]) == ("debate", builtin_presets()["debate"].context)

    for preset, context, kept in (("debate", "You are Ines.", "custom"), ("blank", "", "blank")):
        send(preset=preset, context=context)
        config = Experiment.objects.latest("created").config
        assert (config["preset"], config["context"]) == (kept, context)
