"""Setting up councils and contests: defaults, presets, shortcuts, complaints, what it may cost, and who takes part."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from experiments.library.instruments import services
from experiments.models import Experiment, Preset, Run, SandboxHost
from experiments.setup import estimates
from experiments.setup.forms import setup_form
from tests.fixtures import add_model

MODELS = ("sim/cooperative:first=0", "sim/competitive:first=0", "sim/neutral:first=0")
COUNCIL, ADDRESS = "/council/", "/coding/"


@pytest.fixture(autouse=True)
def models(provider):
    return [add_model(slug) for slug in MODELS]


def cast(experiment):
    return {p.seat: p.model.slug for p in experiment.participants.select_related("model")}


def host(name="box", backend="bubblewrap", **fields):
    layers = [{"name": "network namespace", "holds": backend == "bubblewrap", "detail": "it has no network"}]
    same = {"is_sufficient": True, "layers": layers, "checked": timezone.now(), **fields}
    SandboxHost.objects.create(name=name, backend=backend, **same)


def test_the_form_as_it_is_starts_a_contest_and_its_estimate_follows_it(browser, form, read):
    said = (("6", "auto", "sets 2 times"), ("4", "auto", "draws the setter"), ("4", "in_turn", "not evenly"))
    for cycles, setters, words in said:
        page = read(browser.post(ADDRESS, form(cycles=cycles, setters=setters, quorum="9")))
        assert words in page.by_id("estimate").text
    response = browser.post(ADDRESS, form())

    [run] = Run.objects.all()
    assert response["Location"] == run.get_absolute_url()
    assert set(cast(run.experiment).values()) == set(MODELS)
    assert (run.config["cycles"], run.config["health_check"]) == (1, True)

    address = reverse("coding-estimate")
    guess = browser.post(address, form(cycles="2")).content.decode()
    unchecked = {name: value for name, value in form(cycles="2").items() if name != "health_check"}

    cycle = "A cycle makes 10 calls: 1 problem, 3 solutions and 6 judgments"
    wanted = ("<b>23 calls</b>", 'class="number">43</td>', cycle, "price unknown")
    assert [words for words in wanted if words not in guess] == []
    assert "<b>20 calls</b>" in browser.post(address, unchecked).content.decode()
    without = browser.post(address, form() | {"coders-1-model": ""}).content.decode()
    assert "Choose a model for every participant" in without
    assert browser.post(address, form(cycles="x", call_seconds="y")).status_code == 200


def test_all_available_models_are_seated_at_once_and_what_was_typed_stays(browser, form, read):
    add_model("sim/verbose:first=0")
    sent = form(topic="graphs") | {"coders-2-model": "", "coders-0-temperature": "0.1", "everybody": "1"}
    page = read(browser.post(ADDRESS, sent))

    again = page.form(id="setup")
    chosen = [again[f"coders-{n}-model"] for n in range(4)]
    assert set(chosen) == {*MODELS, "sim/verbose:first=0"}
    assert chosen[0] == sent["coders-0-model"]
    assert (again["coders-0-temperature"], again["topic"]) == ("0.1", "graphs")
    assert not Run.objects.exists()

    for number in range(20):
        add_model(f"sim/neutral:seed={number}")
    page = read(browser.post(ADDRESS, sent))
    assert len([name for name in page.form(id="setup") if re.fullmatch(r"coders-\d+-model", name)]) == 20
    assert "At most 20 models can take part" in page.text


def test_a_judge_of_the_whole_run_is_counted_once_and_reads_all_cycles(form, alice):
    def guess(unit, cycles):
        definition = {"dimensions": [{"kind": "yes_no", "name": "fair", "title": "Fair"}], "unit": unit}
        version = services.save(owner=alice, title="Fair", definition={**definition, "model": MODELS[0]})
        chosen = {"judge": "on", "instrument-version": str(version.pk), "seat-judge-model": MODELS[0]}
        sent = form(cycles=str(cycles), setters="random", **chosen)
        return estimates.of_form(setup_form("coding")(sent, reader=alice), by=alice).typical

    plain = estimates.of_form(setup_form("coding")(form(cycles="4", setters="random"), reader=alice), by=alice).typical
    assert guess("run", 4).calls == plain.calls + 1
    assert guess("turn", 4).calls == plain.calls + 4
    longer = [guess("run", cycles).tokens for cycles in (1, 2, 3)]
    assert longer[2] - longer[1] == longer[1] - longer[0] > plain.tokens // 4


def test_the_state_of_the_sandbox_stands_beside_the_form_and_without_one_nothing_is_started(browser, form, read):
    assert "No machine that runs code has reported" in read(browser.get(ADDRESS)).text
    host(is_sufficient=False, refusal="bwrap is not there.")
    refused = browser.post(ADDRESS, form())
    assert (refused.status_code, "nothing was started. bwrap is not there." in read(refused).text) == (403, True)
    assert "bwrap is not there." in read(refused).find(class_="sandbox-state is-refused")[0].text
    assert not Experiment.objects.exists()

    SandboxHost.objects.all().delete()
    host()
    host("bare", "unsafe")
    text = read(browser.get(ADDRESS)).find(class_="sandbox-state is-unsafe")[0].text
    assert "1 of 1 layers work" in text
    assert "network namespace it has no network" in text


def test_members_sit_in_the_order_of_their_rows_and_the_council_asked_last_is_offered_again(browser, form):
    rows = {"members-4-model": MODELS[2], "members-4-temperature": "1.5", "members-0-model": ""}
    rows |= {"members-2-model": MODELS[0], "members-1-model": MODELS[2], "members-3-model": "", "members-5-model": ""}
    others = {name: value for name, value in form(COUNCIL, question="Why?").items() if not name.startswith("members")}
    browser.post(COUNCIL, others | rows)

    experiment = Experiment.objects.get()
    assert [p.seat for p in experiment.participants.all()][:3] == ["member-1", "member-2", "member-3"]
    assert list(cast(experiment).values())[:3] == [MODELS[2], MODELS[0], MODELS[2]]
    assert experiment.participants.get(seat="member-1").params == {"temperature": 1.5}
    again, seated = form(COUNCIL), cast(experiment)
    assert [again[f"members-{n}-model"] for n in range(4)] == [MODELS[2], MODELS[0], MODELS[2], ""]
    assert (again["seat-chair-model"], again["question"]) == (seated["chair"], "")


def test_a_council_is_kept_under_a_name_used_without_losing_what_was_typed_and_shared_by_its_owner_alone(
    browser, form, read, charlies
):
    sent = form(COUNCIL, question="Half a question", system_prompt="Be brief.") | {"preset_name": "Clones"}
    sent |= {f"members-{n}-model": MODELS[1] for n in range(3)}
    page = read(browser.post(reverse("council-presets"), sent))
    [preset] = Preset.objects.all()
    assert (preset.workflow, preset.name, preset.shared) == ("council", "Clones", False)
    assert preset.config["config"]["system_prompt"] == "Be brief."
    assert set(preset.config["cast"]) >= {"member-1", "member-2", "member-3", "chair"}
    assert page.form(id="setup")["question"] == "Half a question"
    for name, said in (("Clones", "already"), ("", "cannot be empty")):
        assert said in read(browser.post(reverse("council-presets"), sent | {"preset_name": name})).text
    assert Preset.objects.count() == 1

    page = read(browser.post(COUNCIL, form(COUNCIL, question="My question") | {"load": str(preset.pk)}))
    filled = page.form(id="setup")
    assert [filled[f"members-{n}-model"] for n in range(3)] == [MODELS[1]] * 3
    assert filled["question"] == "My question"
    assert not Run.objects.exists()

    presets, key = reverse("council-presets"), str(preset.pk)
    seen = [charlies.get(f"{COUNCIL}?preset={key}").status_code]
    for deed in ("share", "unshare"):
        browser.post(presets, form(COUNCIL) | {deed: key})
        seen.append(charlies.get(f"{COUNCIL}?preset={key}").status_code)
        assert charlies.post(presets, {deed: key}).status_code == 404

    assert seen == [404, 200, 404]
    assert browser.post(reverse("council-preset-delete", args=[key]), form(COUNCIL)).status_code == 200
    assert not Preset.objects.exists()
