"""Setting up a talk: only the first message is missing, and what was typed is kept when something is wrong."""

from django.urls import reverse

from tests.fixtures import add_model

ADDRESS = "/starchamber/"


def test_a_model_that_gives_no_probabilities_is_said_to(browser, provider, read):
    add_model("sim/neutral:first=0", label="Aaron", capabilities={"logprobs": False})
    page = read(browser.get(ADDRESS))

    assert "does not provide token probabilities" in page.by_id("estimate").text, "it is the first of the list"
    unwanted = {name: value for name, value in page.form(id="setup").items() if name != "logprobs"}
    assert "probabilities" not in read(browser.post(reverse("starchamber-estimate"), unwanted)).text
