"""Providers and their models by command."""

import io

import pytest
from django.core.management import CommandError, call_command

from experiments.management.commands import sweep
from experiments.models import Provider, ProviderModel
from tests.cases import each_case

pytestmark = pytest.mark.django_db


def run(command: str, *arguments: str) -> tuple[str, str]:
    """What it said, and what it complained about."""
    out, err = io.StringIO(), io.StringIO()
    call_command(command, *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def add(url: str = "http://127.0.0.1:9/v1", *more: str) -> tuple[str, str]:
    return run("add_provider", "--name", "lab", "--base-url", url, *more)


@each_case(
    ("url", "name", "said"),
    [
        *((url, "lab", "private address") for url in ("http://127.0.0.1:9/v1", "http://localhost:9/v1")),
        *((url, "lab", "private address") for url in ("http://10.0.0.1/v1", "http://[::1]/v1")),
        *((url, "lab", "base_url") for url in ("lab", "ftp://lab.example/v1", "")),
        ("https://lab.example/v1", "simulated", "Choose another name"),
    ],
)
def test_what_is_no_public_address_or_a_taken_name_is_refused(url, name, said):
    with pytest.raises(CommandError, match=said):
        run("add_provider", "--name", name, "--base-url", url)

    assert not Provider.objects.exists()


def test_a_provider_is_added_with_its_models_and_changed_when_it_is_added_again():
    add("http://127.0.0.1:9/v1/", "--model", "one", "--allow-private")

    provider = Provider.objects.get()
    assert (provider.base_url, provider.allow_private, provider.is_active) == ("http://127.0.0.1:9/v1", True, True)
    assert [model.slug for model in ProviderModel.objects.available()] == ["one"]
    ProviderModel.objects.update(is_active=False)

    add("http://127.0.0.1:10/v1", "--model", "one", "two", "--allow-private")

    assert Provider.objects.get().base_url == "http://127.0.0.1:10/v1"
    assert ProviderModel.objects.filter(is_active=True).count() == 2


def test_a_taken_name_is_said():
    asked = ("--base-url", "http://127.0.0.1:9/v1", "--allow-private", "--model", "one")
    run("add_provider", "--name", "lab", *asked)

    said, _ = run("add_provider", "--name", "other", *asked)

    assert "Model one, called other/one here: that name was taken." in said


def test_the_models_of_every_active_provider_are_listed(simulated):
    add(simulated.base_url, "--allow-private")

    said, _ = run("sync_models")

    assert ProviderModel.objects.filter(slug="sim/cooperative", provider__name="lab").exists()
    count = ProviderModel.objects.count()
    assert f"lab: {count} listed, {count} added, 0 changed, {count} new prices, 0 gone" in said


@pytest.mark.system
def test_a_provider_that_does_not_answer_is_named_and_the_others_are_done(simulated):
    Provider.objects.create(name="away", base_url="http://127.0.0.1:9/v1", allow_private=True)
    add(simulated.base_url, "--allow-private")

    with pytest.raises(CommandError, match="Nothing was changed for away"):
        run("sync_models")

    assert ProviderModel.objects.filter(provider__name="lab").exists()


def test_a_missing_key_is_named_and_nobody_is_asked_without_it(monkeypatch):
    assert "add_provider" in run("sync_models")[0], "there is nothing to ask"
    monkeypatch.delenv("LAB_KEY", raising=False)
    said, _ = add("https://lab.invalid/v1", "--api-key-env", "LAB_KEY")
    assert "set LAB_KEY in the environment" in said

    with pytest.raises(CommandError, match="Nothing was changed for lab"):
        run("sync_models")


def test_a_sweep_rings_for_queued_runs(arena, start, monkeypatch):
    rung = []
    monkeypatch.setattr(sweep, "wake", rung.append)
    queued = start(arena())

    said, _ = run("sweep")

    assert rung == [queued.pk]
    assert said == "1 runs wait for a driver.\n"
