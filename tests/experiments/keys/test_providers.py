"""Providers, models and defaults as administrators set them up in the browser and by the API."""

from decimal import Decimal

import pytest
from django.urls import reverse

from accounts.models import AuditEntry
from experiments.lab.catalog import defaults, providers
from experiments.models import ModelPrice, Provider, ProviderKey, ProviderModel
from tests.experiments.keys.conftest import LAB, MINE
from tests.fixtures import add_model, signed_in

pytestmark = pytest.mark.django_db

SETTINGS = {"name": "lab", "allow_private": "on", "concurrency": "10"}


def recorded():
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_a_provider_is_tested_before_it_is_saved_added_with_its_key_and_lists_its_models_at_once(admin, doors):
    browser, form = signed_in(admin), {**SETTINGS, "base_url": doors[LAB].base_url}
    for sent, outcome in (
        ({"key": LAB}, "listed"),
        ({"key": MINE}, "refused"),
        ({}, "no_key"),
        ({"key": LAB, "allow_private": ""}, "private"),
        ({"key": LAB, "routes": "on"}, "no_list"),
    ):
        answer = browser.post(reverse("provider-new-test"), form | sent)
        assert answer.context["contacted"].outcome == outcome
        assert not Provider.objects.filter(name="lab").exists()

    filled = browser.get(reverse("provider-new"), {"server": "ollama"}).context["form"]["base_url"].value()
    assert filled == "http://localhost:11434/v1"

    answer = browser.post(reverse("provider-new"), {**form, "base_url": f"{doors[LAB].base_url}/", "key": LAB})

    made = Provider.objects.get(name="lab")
    assert answer.url == made.get_absolute_url()
    assert (made.sync_outcome, made.models.filter(is_active=True).exists()) == ("listed", True)
    assert ProviderKey.objects.of_lab().get().provider == made
    assert LAB not in browser.get(made.get_absolute_url()).content.decode()
    assert recorded() == ["provider_added", "key_added", "models_synced"]
    address = reverse("model-try", args=[made.models.first().pk])
    assert browser.post(address, {"prompt": "Hello."}).context["answer"].text
    ProviderKey.objects.all().delete()
    assert "problem" in browser.post(address).context

    for name in providers.RESERVED:
        sent = {**SETTINGS, "name": name, "base_url": "https://a.example/v1"}
        assert browser.post(reverse("provider-new"), sent).status_code == 422, name


def test_a_provider_is_disabled_changed_and_deleted_only_while_nothing_refers_to_it(admin, locked, played):
    browser, used = signed_in(admin), played(max_turns=1).calls.first().model.provider
    Provider.objects.filter(pk=used.pk).update(is_simulated=False)
    found = locked(LAB)
    browser.post(reverse("provider-enable", args=[found.pk]))
    assert not ProviderModel.objects.available().filter(provider=found).exists()
    changed = {**SETTINGS, "name": "renamed", "base_url": "https://a.example/v1"}
    browser.post(reverse("provider", args=[found.pk]), changed)
    assert Provider.objects.get(pk=found.pk).name == "renamed"

    assert browser.post(reverse("provider-delete", args=[used.pk])).status_code == 303
    assert browser.post(reverse("provider-delete", args=[found.pk])).status_code == 302
    assert set(Provider.objects.filter(pk__in=[used.pk, found.pk])) == {used}


def test_the_api_adds_syncs_changes_and_deletes_a_provider(admin, alice, doors):
    browser = signed_in(admin)
    asked = {"name": "lab", "base_url": doors[LAB].base_url, "allow_private": True, "key": LAB}
    made = browser.post("/api/providers/", asked, content_type="application/json")
    address = f"/api/providers/{made.json()['id']}/"
    assert (made.status_code, "key" in made.json()) == (201, False)
    assert browser.post(f"{address}test/").json()["outcome"] == "listed"
    listed = browser.post(f"{address}sync/").json()["listed"]
    assert listed == ProviderModel.objects.filter(provider__name="lab").count()
    limits = {"requests_per_minute": 60, "tokens_per_minute": None}
    changed = browser.patch(address, {"enabled": False, **limits}, content_type="application/json").json()
    assert (changed["enabled"], changed["sync"], limits.items() <= changed.items()) == (False, "listed", True)
    assert browser.patch(address, {"tokens_per_minute": 0}, content_type="application/json").status_code == 400
    assert signed_in(alice).get(address).status_code == 404
    assert browser.delete(address).status_code == 204


def test_a_model_is_added_by_name_and_what_it_accepts_and_costs_is_entered(admin, locked):
    browser, provider = signed_in(admin), locked(LAB)
    added = browser.post(reverse("model-new"), {"provider": provider.pk, "upstream": "unlisted/one"})
    model = ProviderModel.objects.get(upstream="unlisted/one")
    assert added.url == reverse("model", args=[model.pk])
    sent = {"label": "One", "is_active": "on", "context_tokens": "8000", "schema": "none", "accepts": ["images"]}
    for _again in range(2):
        browser.post(added.url, {**sent, "input": "2.5", "output": "5"})

    model.refresh_from_db()
    accepts, price = model.accepts, ModelPrice.objects.get(model=model)
    assert (accepts.context_tokens, accepts.images, accepts.logprobs, accepts.schema) == (8000, True, False, "none")
    assert (price.input_per_million, price.output_per_million) == ("2.5", "5")
    assert browser.post(added.url, {**sent, "input": "1"}).status_code == 422


def test_the_labs_defaults_fill_the_forms_of_new_runs_and_only_one_model_has_each(admin, alice, provider):
    one, two, tool = add_model("one"), add_model("two"), add_model("tool")
    browser = signed_in(admin)
    chosen = {"arena/A": "two", "arena/B": "two", "council/member-1": "two", "judge": "tool"}
    for more in ({}, {"arena/B": "one"}):
        browser.post(reverse("model-defaults"), chosen | more)

    for model in (one, two, tool):
        model.refresh_from_db()
    assert (one.default_for, sorted(two.default_for)) == (["arena/B"], ["arena/A", "council/member-1"])
    assert tool.is_default_judge
    form = signed_in(alice).get(reverse("arena")).context["form"]
    assert [form[f"seat-{seat}-model"].value() for seat in "AB"] == ["two", "one"]
    members = signed_in(alice).get(reverse("council")).context["form"]["members"].value()
    assert members[0]["model"] == "two"
    assert recorded().count("defaults_changed") == 2
    assert {role.key for group in defaults.all_roles() for role in group.roles} >= {"judge", "filter", "arena/A"}


def test_models_are_found_by_capability_and_price_and_sorted(alice, provider):
    for name, price, context in (("cheap", "0.000001", 8000), ("dear", "0.00005", 128_000), ("unpriced", None, None)):
        model = add_model(name)
        model.capabilities = {"images": name == "dear"} | ({"context_tokens": context} if context else {})
        model.save()
        model.prices.all().delete()
        if price:
            for since, factor in (("2025-01-01T00:00Z", 3), ("2026-01-01T00:00Z", 1), ("2199-01-01T00:00Z", 9)):
                prices = {"input": Decimal(price) * factor, "output": Decimal(price) * factor}
                ModelPrice.objects.create(model=model, since=since, **prices)
    browser = signed_in(alice)

    def shown(**query):
        entries = browser.get("/models/", {"provider": model.provider.name, **query}).context["entries"]
        return [entry.model.slug for entry in entries if entry.model.slug in {"cheap", "dear", "unpriced"}]

    assert shown(sort="-output") == ["dear", "cheap", "unpriced"]
    assert shown(sort="context") == ["cheap", "dear", "unpriced"]
    assert shown(accepts="images") == ["dear"]
    assert shown(price="5") == ["cheap"]
    menu = browser.get(reverse("model-menu")).json()
    assert (menu["dear"]["price"], menu["dear"]["context"], menu["unpriced"]["price"]) == (["50", "50"], 128_000, None)
