"""Providers and their models, from a provider's list and by command, with capabilities and dated prices."""

import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from experiments.lab.catalog import syncing as catalog
from experiments.models import ModelPrice, Provider, ProviderModel
from tests.parts import in_process

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)
TUESDAY = MONDAY + timedelta(days=1)


def entry(name: str = "lab/one", prompt: str = "0.000001", **fields) -> dict:
    return {"id": name, "name": "One", "pricing": {"prompt": prompt, "completion": "0.000002"}, **fields}


@pytest.fixture
def lab(db):
    return Provider.objects.create(name="lab", base_url="https://lab.example/v1")


@pytest.mark.databases
def test_a_new_model_is_entered_and_a_changed_price_holds_from_then_on(lab):
    counts = catalog.sync_models(lab, [entry()], MONDAY)
    model = ProviderModel.objects.get(slug="lab/one")
    assert (model.label, model.upstream, model.is_active) == ("One", "lab/one", True)
    assert (counts.added, counts.priced) == (1, 1)

    catalog.sync_models(lab, [entry(prompt="0.0000010")], TUESDAY)
    assert ModelPrice.objects.count() == 1, "it is the same price"
    catalog.sync_models(lab, [{"id": "lab/one"}], TUESDAY)
    assert ModelPrice.objects.count() == 1, "none is told"
    catalog.sync_models(lab, [entry(prompt="0.000003")], TUESDAY)
    prices = [model.price_at(day).value for day in (MONDAY, TUESDAY)]
    assert [(price.input, price.output) for price in prices] == [
        (Decimal("0.000001"), Decimal("0.000002")),
        (Decimal("0.000003"), Decimal("0.000002")),
    ]


def test_a_price_that_is_no_amount_is_unknown_and_not_zero_and_an_entry_that_nobody_could_ask_for_is_left_out(lab):
    wrong = ("-1", "", "free", "NaN", "Infinity", None, True)
    catalog.sync_models(lab, [entry(f"{number}", prompt) for number, prompt in enumerate(wrong)], MONDAY)
    assert [model.price_at(TUESDAY) for model in ProviderModel.objects.all()] == [None] * len(wrong)

    ProviderModel.objects.all().delete()
    for name in (None, "", " ", 5, "x" * 201, "nul\0", "line\nbreak"):
        assert catalog.sync_models(lab, [entry(name), entry("fine")], MONDAY).listed == 1, name
        assert ProviderModel.objects.get().upstream == "fine"


def test_an_empty_list_changes_nothing_a_model_switched_off_stays_off_and_one_that_is_gone_becomes_inactive(lab):
    catalog.sync_models(lab, [entry()], MONDAY)
    catalog.sync_models(lab, [], TUESDAY)
    assert ProviderModel.objects.get().is_active
    ProviderModel.objects.update(is_active=False)

    counts = catalog.sync_models(lab, [entry()], TUESDAY)
    assert (counts.inactive, ProviderModel.objects.get().is_active) == (1, False)

    catalog.sync_models(lab, [entry(), entry("two"), entry("three")], MONDAY)
    counts = catalog.sync_models(lab, [entry(), entry("two")], TUESDAY)
    assert (counts.gone, ProviderModel.objects.get(upstream="three").is_active) == (1, False), "one that is gone stays"
    assert ProviderModel.objects.get(upstream="two").is_active


def test_capabilities_come_from_what_is_supported(lab):
    catalog.sync_models(
        lab,
        [
            entry(
                supported_parameters=["max_tokens", "temperature", "reasoning", "response_format"],
                architecture={"input_modalities": ["text", "image"]},
                context_length=128_000,
                top_provider={"max_completion_tokens": 4096},
            )
        ],
        MONDAY,
    )

    accepts = ProviderModel.objects.get().accepts
    assert (accepts.temperature, accepts.reasoning_effort, accepts.images) == (True, True, True)
    assert (accepts.seed, accepts.logprobs, accepts.schema) == (False, False, "json_object")
    assert (accepts.context_tokens, accepts.max_output_tokens) == (128_000, 4096)

    ProviderModel.objects.update(capabilities={"system_role": False, "schema": "none"})
    catalog.sync_models(lab, [entry(supported_parameters=["structured_outputs"])], TUESDAY)
    accepts = ProviderModel.objects.get().accepts
    assert (accepts.system_role, accepts.schema) == (False, "json_schema"), "what the list is silent about stays"


def test_openrouter_is_entered_once_as_an_administrator_left_it_and_who_lacks_a_key_cannot_be_asked(lab, monkeypatch):
    catalog.ensure_openrouter()
    Provider.objects.filter(routes=True).update(is_active=False)
    provider = catalog.ensure_openrouter()
    assert (provider.api_key_env, provider.is_active) == ("OPENROUTER_API_KEY", False)

    Provider.objects.create(name="keyed", base_url="https://keyed.example/v1", api_key_env="KEYED_KEY")
    assert catalog.real_providers() == ["lab"]
    monkeypatch.setenv("KEYED_KEY", "secret")
    assert catalog.real_providers() == ["keyed", "lab"]


def test_the_simulated_provider_brings_its_models_a_judge_and_a_filter_once(simulated, lab):
    provider = catalog.register_simulated(simulated.base_url)

    assert (provider.is_simulated, provider.allow_private) == (True, True)
    assert ProviderModel.objects.get(is_default_judge=True).slug == "sim/judge"
    assert ProviderModel.objects.get(is_default_filter=True).slug == "sim/filter"
    tools = set(ProviderModel.objects.filter(is_tool=True).values_list("slug", flat=True))
    assert tools == {"sim/judge", "sim/filter", "sim/vision-judge"}
    assert all(model.price_at(datetime.now(UTC)) for model in provider.models.all())

    before = ProviderModel.objects.count(), ModelPrice.objects.count()
    catalog.retire_simulated()
    assert not ProviderModel.objects.available().exists()
    catalog.register_simulated(simulated.base_url + "/")
    assert (ProviderModel.objects.available().count(), ModelPrice.objects.count()) == before
    assert Provider.objects.get(is_simulated=True).base_url == simulated.base_url + "/"

    ProviderModel.objects.update(is_default_judge=False)
    chosen = catalog.add_model(lab, "own/judge")
    ProviderModel.objects.filter(pk=chosen.pk).update(is_default_judge=True)
    catalog.register_simulated(simulated.base_url)
    assert ProviderModel.objects.get(is_default_judge=True) == chosen


def run(command: str, *arguments: str) -> tuple[str, str]:
    """What it said, and what it complained about."""
    out, err = io.StringIO(), io.StringIO()
    call_command(command, *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def add(url: str = "http://127.0.0.1:9/v1", *more: str) -> tuple[str, str]:
    return run("add_provider", "--name", "lab", "--base-url", url, *more)


def test_what_is_no_public_address_or_a_taken_name_is_refused():
    private = [f"http://{host}/v1" for host in ("127.0.0.1:9", "localhost:9", "10.0.0.1", "[::1]")]
    wrong = [*((url, "private address") for url in private), ("https://lab.example/v1", "Choose another name")]
    for url, said in (*wrong, ("lab", "base_url"), ("ftp://lab.example/v1", "base_url"), ("", "base_url")):
        with pytest.raises(CommandError, match=said):
            run("add_provider", "--name", "simulated" if said.startswith("Choose") else "lab", "--base-url", url)
    assert not Provider.objects.exists()


def test_a_provider_is_added_with_its_models_changed_when_it_is_added_again_and_told_of_taken_names():
    add("http://127.0.0.1:9/v1/", "--model", "one", "--allow-private")

    provider = Provider.objects.get()
    assert (provider.base_url, provider.allow_private, provider.is_active) == ("http://127.0.0.1:9/v1", True, True)
    assert [model.slug for model in ProviderModel.objects.available()] == ["one"]
    ProviderModel.objects.update(is_active=False)

    add("http://127.0.0.1:10/v1", "--model", "one", "two", "--allow-private")

    assert Provider.objects.get().base_url == "http://127.0.0.1:10/v1"
    assert ProviderModel.objects.filter(is_active=True).count() == 2

    other = ("--name", "other", "--base-url", "http://127.0.0.1:9/v1", "--allow-private", "--model", "one")
    assert "Model one, called other/one here: that name was taken." in run("add_provider", *other)[0]
    assert dict(ProviderModel.objects.values_list("slug", "upstream")) == {
        "one": "one",
        "two": "two",
        "other/one": "one",
    }


def test_a_file_names_a_pool_of_models(tmp_path):
    pool = tmp_path / "pool.txt"
    pool.write_text("# our own\none\n\ntwo  # the large one\none\n")
    add("http://127.0.0.1:9/v1", "--models", str(pool), "--model", "three", "--allow-private")

    assert {model.slug for model in ProviderModel.objects.available()} == {"one", "two", "three"}
    pool.write_text("# none yet\n")
    for path, said in ((pool, "names no model"), (tmp_path / "nowhere", "cannot be read")):
        with pytest.raises(CommandError, match=said):
            add("http://127.0.0.1:9/v1", "--models", str(path), "--allow-private")


def test_every_model_is_asked_for_a_word_and_those_that_are_silent_are_named(simulated):
    with pytest.raises(CommandError, match="There is no model"):
        run("ping_models")
    add(simulated.base_url, "--allow-private", "--model", "sim/cooperative", "sim/competitive", "sim/nobody")

    said, _ = run("ping_models", "sim/cooperative", "sim/competitive")
    assert "sim/competitive: answered in " in said
    assert said.endswith("All 2 models answered.\n")
    with pytest.raises(CommandError, match="1 of 3 models did not answer"):
        run("ping_models")
    with pytest.raises(CommandError, match="no model sim/unknown"):
        run("ping_models", "sim/unknown")
    Provider.objects.update(needs_key=True)
    out = io.StringIO()
    with pytest.raises(CommandError, match="3 of 3 models did not answer"):
        call_command("ping_models", stdout=out)
    assert "sim/cooperative: " in out.getvalue(), "without a key all are silent"


def test_the_models_of_every_active_provider_are_listed_and_one_that_does_not_answer_is_named(simulated):
    add(simulated.base_url, "--allow-private")
    said, _ = run("sync_models")

    assert ProviderModel.objects.filter(slug="sim/cooperative", provider__name="lab").exists()
    count = ProviderModel.objects.count()
    assert f"lab: {count} listed, {count} added, 0 changed, {count} new prices, 0 gone" in said

    async def silent(scope, receive, send):
        """Ends the connection."""

    ProviderModel.objects.all().delete()
    with in_process.served(silent) as base_url:
        Provider.objects.create(name="away", base_url=base_url, allow_private=True)
        with pytest.raises(CommandError, match="Nothing was changed for away"):
            run("sync_models")
    assert ProviderModel.objects.filter(provider__name="lab").count() == count, "the others are done"


def test_a_missing_key_is_named_and_nobody_is_asked_without_it(monkeypatch):
    assert "add_provider" in run("sync_models")[0], "there is nothing to ask"
    monkeypatch.delenv("LAB_KEY", raising=False)
    said, _ = add("https://lab.invalid/v1", "--api-key-env", "LAB_KEY")
    assert "set LAB_KEY in the environment" in said

    with pytest.raises(CommandError, match="Nothing was changed for lab"):
        run("sync_models")


def test_a_sweep_wakes_queued_runs(arena, start, woken_runs):
    queued = start(arena())
    woken_runs.clear()
    assert run("sweep")[0] == "1 runs wait for a driver.\n"
    assert woken_runs == [queued.pk]
