"""Campaigns: how far they are, what is open, who is ahead, stopping and resuming; and those that make outputs."""

import pytest
from django.urls import reverse

from experiments.library.datasets import demonstration
from experiments.models import Battle, Campaign, Experiment, Output, Run
from experiments.runs import actions
from experiments.runs.figures import reason_words
from leaderboard.boards import jobs
from leaderboard.models import Ladder
from tests.experiments.pages.painted import assert_same_page
from tests.fixtures import add_model, wait_until
from tests.making import maker


@pytest.fixture
def texts(alice, settings):
    settings.BATTLES_PER_RUN = 2
    dataset = demonstration.make_text(alice)
    dataset.contestants.order_by("-pk").first().delete()
    return dataset


@maker
def begun(provider, alice, texts, woken_runs, /, judge="sim/judge:first=0", **config):
    """Starts a campaign of Alice's: three contestants, two samples for each pair; settings change the Config."""
    plan = {"sampling": {"plan": "sample", "per_pair": 2}}
    asked = {"dataset": texts.slug, "prompt": "text_quality", **plan, **config}
    cast = {"judge": {"model": add_model(judge).slug}}
    experiment = actions.create(owner=alice, workflow="battles", config=asked, cast=cast)
    actions.start(experiment, by=alice)
    return experiment


@maker
def play(drive, /, experiment):
    running = Campaign.objects.filter(pk=experiment.pk, state=Campaign.State.RUNNING)
    wait_until(lambda: drive() or not running.exists(), "the end of the campaign")


def address(experiment, name="experiment"):
    return reverse(name, args=[experiment.pk])


def test_a_campaign_shows_how_far_it_is_and_what_came_of_it(browser, read, begun, play):
    experiment = begun()
    before = read(browser.get(address(experiment)))
    play(experiment)
    after = read(browser.get(address(experiment)))

    assert "0 of 6" in before.by_id("status").text
    assert "6 of 6" in after.by_id("status").text
    assert Battle.objects.filter(experiment=experiment).decided().count() == 6
    assert after.by_id("progress-bar").get("value") == "6"
    [table] = [one for one in after.find("table") if "pair-grid" in (one.get("class") or "")]
    assert [cell.text for cell in table.findall(".//td") if cell.text] == ["2 /2"] * 3
    for battle in experiment.battles.order_by("-judged", "-pk")[:3]:
        assert after.find("a", href=reverse("battle", args=[battle.pk]))
    assert "6 of 6" in read(browser.get("/battles/")).by_id("campaigns").text
    [row] = [one for one in read(browser.get("/runs/")).find("tr") if experiment.title in one.text]
    assert row.find(".//a").get("href") == address(experiment)

    live = browser.get(address(experiment, "campaign-live"))
    for part in ("decided", "bar", "grid", "latest", "runs"):
        assert f'data-part="{part}"' in live.content.decode()
    assert "<html" not in live.content.decode()
    waiting = read(live)
    assert waiting.by_id("status").text == read(browser.get(address(experiment))).by_id("status").text
    assert waiting.by_id("status").get("data-over") == ""
    assert waiting.by_id("campaign-live").get("hx-trigger")

    jobs.refresh_stale()
    settled = read(browser.get(address(experiment, "campaign-live"))).by_id("campaign-live")
    assert (settled.get("hx-trigger"), settled.get("hx-get")) == (None, None), "else a click anywhere fetches it"
    page = read(browser.get(address(experiment)))
    rows = [row for ladder in Ladder.objects.all() for row in ladder.standing.data["rows"] if row["reason"]]
    assert rows, "four battles of each are too few"
    for row in rows:
        assert str(reason_words(row["reason"])) in page.text

    again = begun()
    play(again)
    assert "everything had already been decided" in read(browser.get(address(again))).text


def test_a_campaign_is_stopped_and_resumed_also_under_another_limit(browser, read, begun, play):
    experiment = begun(limits={"tokens": 1000})
    stop, resume = (address(experiment, name) for name in ("campaign-stop", "campaign-resume"))
    changed = {"changes-limits": "1", "cost": "", "tokens": "900000", "seconds": ""}
    browser.post(stop)
    assert Campaign.objects.get().state == Campaign.State.STOPPED

    refused = browser.post(resume, {**changed, "tokens": "free"}, follow=True)
    assert "not valid limits for a campaign" in read(refused).text
    browser.post(resume, changed)
    assert Campaign.objects.get().plan["limits"]["tokens"] == 900_000
    play(experiment)
    assert Campaign.objects.get().state == Campaign.State.COMPLETED
    assert "nothing to resume" in read(browser.post(resume, follow=True)).text


@pytest.mark.parametrize("judge", ["sim/judge:first=0:fail=503:times=1:retry_after=0", "sim/judge:first=0:json=broken"])
def test_the_page_of_a_run_is_the_same_from_rows_and_events_and_open_battles_can_be_asked_again(
    browser, read, begun, play, judge
):
    experiment = begun(judge)
    play(experiment)
    for run in Run.objects.filter(experiment=experiment):
        assert_same_page(run, "battle_judged", "experiment_stopped")

    if "broken" in judge:
        assert not experiment.battles.decided().exists(), "an error is never a tie"
        form = read(browser.get(address(experiment))).by_id("resume-form")
        assert form.get("action") == address(experiment, "campaign-resume")


MODEL = "sim/cooperative:first=0:tps=0"


@pytest.fixture
def dataset(provider, alice):
    add_model(MODEL)
    return demonstration.make_text(alice)


@pytest.fixture
def making(dataset):
    return reverse("outputs-make", args=[dataset.slug])


def test_models_are_asked_and_their_answers_become_outputs(browser, read, dataset, making, drive):
    sent = {"makers-0-model": MODEL, "makers-0-name": "newcomer", "makers-1-model": "", "subsets": [""]}
    response = browser.post(making, {**sent, "makers-0-temperature": "0.5"})
    experiment = Experiment.objects.get()
    assert response["Location"] == reverse("experiment", args=[experiment.pk])
    assert experiment.participants.get().params == {"temperature": 0.5}

    wait_until(lambda: drive() or not Campaign.objects.filter(state="running").exists(), "the end of the campaign")
    newcomer = dataset.contestants.get(name="newcomer")
    assert newcomer.model.slug == MODEL
    assert Output.objects.filter(contestant=newcomer).exclude(text="").count() == 12
    page = read(browser.get(response["Location"]))
    assert "12 of 12" in page.by_id("status").text
    assert page.find("a", href=f"/battles/?dataset={dataset.slug}")
    for run in experiment.runs.all():
        assert_same_page(run)
        told = read(browser.get(run.get_absolute_url())).by_id("transcript").text
        assert told.count("has answered") == len(run.overrides["tasks"])


def test_what_is_wrong_is_said_and_what_was_typed_stays(browser, read, making):
    for sent, said in (
        ({}, "Choose at least one model"),
        ({"makers-0-model": MODEL, "makers-1-model": MODEL}, "Two contestants would have the name"),
        ({"makers-0-model": MODEL, "makers-0-name": "pebble"}, "outputs from another source"),
        ({"makers-0-model": "no/such"}, "no available model"),
    ):
        response = browser.post(making, {**sent, "subsets": [""], "title": "My outputs"})
        assert (response.status_code, said in read(response).text) == (422, True), said
        assert read(response).form(id="setup")["title"] == "My outputs"
    assert not Experiment.objects.exists()


def test_those_that_lack_outputs_are_offered_first_of_datasets_of_texts_alone_and_the_preview_follows_the_form(
    browser, read, dataset, making, charlies, charlie, alice
):
    preview = reverse("outputs-make-estimate", args=[dataset.slug])
    sent = {"makers-0-model": MODEL, "subsets": [""]}
    assert "<b>12</b> outputs" in browser.post(preview, sent).content.decode()
    assert "Choose at least one model" in browser.post(preview, {"subsets": [""]}).content.decode()

    dataset.contestants.create(name="half-done", model=add_model(MODEL))
    page = read(browser.get(making))
    assert "12 outputs" in page.text
    offered = page.form(id="setup")
    assert (offered["makers-0-model"], offered["makers-0-name"]) == (MODEL, "half-done")
    assert offered["makers-1-model"] == ""

    charlie.role = charlie.Role.CURATOR
    charlie.save()
    pictures = demonstration.make_images(alice)

    assert charlies.get(making).status_code == 200
    assert charlies.get(reverse("outputs-make", args=[pictures.slug])).status_code == 404
