"""The provider models of the lab."""

import pytest

from experiments.models import Provider, ProviderModel
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db


def slugs(response):
    return {model["slug"] for model in response.json()["results"]}


@pytest.fixture
def catalogue(provider, monkeypatch):
    """One model that can be asked, and one for each reason why not."""
    monkeypatch.delenv("A_KEY_OF_NOBODY", raising=False)
    add_model("sim/neutral", label="Neutral", capabilities={"images": True})
    add_model("sim/off", is_active=False)
    closed = Provider.objects.create(name="closed", base_url="https://api.example.org/v1", is_active=False)
    keyless = Provider.objects.create(
        name="keyless", base_url="https://b.example.org/v1", api_key_env="A_KEY_OF_NOBODY"
    )
    ProviderModel.objects.create(provider=closed, slug="closed/one", upstream="one", label="One")
    ProviderModel.objects.create(provider=keyless, slug="keyless/one", upstream="one", label="One")
    return {"sim/off", "closed/one", "keyless/one"}


def test_a_model_is_listed_with_its_provider_and_what_it_accepts(api, catalogue):
    [model] = [model for model in api.get("models/").json()["results"] if model["slug"] == "sim/neutral"]

    assert model == {
        "slug": "sim/neutral",
        "label": "Neutral",
        "provider": "simulated",
        "simulated": True,
        "available": True,
        "capabilities": {"images": True},
    }


def test_models_that_cannot_be_asked_are_listed_as_such(api, catalogue):
    models = api.get("models/").json()["results"]

    assert {model["slug"] for model in models if not model["available"]} == catalogue


def test_available_true_leaves_out_every_model_that_cannot_be_asked(api, catalogue):
    response = api.get("models/", available="true")

    assert slugs(response) == slugs(api.get("models/")) - catalogue
    assert all(model["available"] for model in response.json()["results"])


def test_available_false_shows_exactly_those(api, catalogue):
    assert slugs(api.get("models/", available="false")) == catalogue


def test_a_key_makes_a_providers_models_available(api, catalogue, monkeypatch):
    monkeypatch.setenv("A_KEY_OF_NOBODY", "sk-secret")

    response = api.get("models/", available="true")
    assert "keyless/one" in slugs(response)
    assert "sk-secret" not in response.content.decode()


def test_models_come_in_pages_ordered_by_slug(api, provider):
    for number in range(7):
        add_model(f"sim/neutral:words={number}")

    pages, url = [], "/api/models/?page_size=4"
    while url:
        page = api.client.get(url, headers=api.headers).json()
        pages.append([model["slug"] for model in page["results"]])
        url = page["next"]

    assert [len(page) for page in pages] == [4, 4, 1]
    assert [slug for page in pages for slug in page] == sorted(ProviderModel.objects.values_list("slug", flat=True))


def test_models_are_shown_to_people_of_the_lab_alone(nobodys, catalogue, is_problem):
    is_problem(nobodys.get("models/"), 401)
