"""Setting up battles and outputs, and their campaigns: how far they are, who is ahead, stopping and resuming."""

import pytest
from django.urls import reverse

from experiments.library.datasets import demonstration
from experiments.library.instruments import services
from experiments.library.instruments.builtin import builtin
from experiments.models import Battle, Campaign, Dataset, Experiment, ModelPrice, Output, Run
from experiments.runs import actions
from experiments.runs.figures import reason_words
from leaderboard.boards import jobs
from leaderboard.models import Ladder
from tests.experiments.pages.painted import assert_same_page
from tests.fixtures import add_model, wait_until
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


@pytest.fixture
def three(texts, settings):
    settings.BATTLES_PER_RUN = 2
    texts.contestants.order_by("-pk").first().delete()
    return texts


@maker
def begun(provider, alice, three, woken_runs, /, judge="sim/judge:first=0", **config):
    """Starts a campaign of Alice's: three contestants, two samples for each pair; settings change the Config."""
    plan = {"sampling": {"plan": "sample", "per_pair": 2}}
    asked = {"dataset": three.slug, "prompt": "text_quality", **plan, **config}
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


MAKER = "sim/cooperative:first=0:tps=0"


@pytest.fixture
def making(texts):
    add_model(MAKER)
    return reverse("outputs-make", args=[texts.slug])


def test_models_are_asked_and_their_answers_become_outputs(browser, read, texts, making, drive):
    sent = {"makers-0-model": MAKER, "makers-0-name": "newcomer", "makers-1-model": "", "subsets": [""]}
    response = browser.post(making, {**sent, "makers-0-temperature": "0.5"})
    experiment = Experiment.objects.get()
    assert response["Location"] == reverse("experiment", args=[experiment.pk])
    assert experiment.participants.get().params == {"temperature": 0.5}

    wait_until(lambda: drive() or not Campaign.objects.filter(state="running").exists(), "the end of the campaign")
    newcomer = texts.contestants.get(name="newcomer")
    assert newcomer.model.slug == MAKER
    assert Output.objects.filter(contestant=newcomer).exclude(text="").count() == 12
    page = read(browser.get(response["Location"]))
    assert "12 of 12" in page.by_id("status").text
    assert page.find("a", href=f"/battles/?dataset={texts.slug}")
    for run in experiment.runs.all():
        assert_same_page(run)
        told = read(browser.get(run.get_absolute_url())).by_id("transcript").text
        assert told.count("has answered") == len(run.overrides["tasks"])


def test_what_is_wrong_with_the_makers_of_outputs_is_said_and_what_was_typed_stays(browser, read, making):
    for sent, said in (
        ({}, "Choose at least one model"),
        ({"makers-0-model": MAKER, "makers-1-model": MAKER}, "Two contestants would have the name"),
        ({"makers-0-model": MAKER, "makers-0-name": "pebble"}, "outputs from another source"),
        ({"makers-0-model": "no/such"}, "no available model"),
    ):
        response = browser.post(making, {**sent, "subsets": [""], "title": "My outputs"})
        assert (response.status_code, said in read(response).text) == (422, True), said
        assert read(response).form(id="setup")["title"] == "My outputs"
    assert not Experiment.objects.exists()


def test_those_that_lack_outputs_are_offered_first_of_datasets_of_texts_alone_and_the_preview_follows_the_form(
    browser, read, texts, making, charlies, charlie, alice
):
    preview = reverse("outputs-make-estimate", args=[texts.slug])
    sent = {"makers-0-model": MAKER, "subsets": [""]}
    assert "<b>12</b> outputs" in browser.post(preview, sent).content.decode()
    assert "Choose at least one model" in browser.post(preview, {"subsets": [""]}).content.decode()

    texts.contestants.create(name="half-done", model=add_model(MAKER))
    page = read(browser.get(making))
    assert "12 outputs" in page.text
    offered = page.form(id="setup")
    assert (offered["makers-0-model"], offered["makers-0-name"]) == (MAKER, "half-done")
    assert offered["makers-1-model"] == ""

    charlie.role = charlie.Role.CURATOR
    charlie.save()
    pictures = demonstration.make_images(alice)

    assert charlies.get(making).status_code == 200
    assert charlies.get(reverse("outputs-make", args=[pictures.slug])).status_code == 404
