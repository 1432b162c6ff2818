"""Scans and trials of an instrument: each unit is measured once, what is quoted is checked, and rates corrected."""

import asyncio
import json

import pytest
from django.urls import reverse

from accounts.errors import Invalid
from accounts.tokens import create_token
from experiments.library.instruments import cases, services
from experiments.library.instruments.figures import figures
from experiments.models import Annotation, Call, Campaign, Experiment, InstrumentCase, Run
from experiments.review.instruments import services as samples
from experiments.runs import removal
from experiments.workflows.battles.campaign import campaigns
from experiments.workflows.battles.campaign.progress import progress
from experiments.workflows.scan.pages import results, trying
from tests.cases import each_case
from tests.experiments.api.conftest import Api
from tests.experiments.reviews.scanned import label
from tests.experiments.scans.conftest import DEFINITION, THOUGHT, given, numbers, reply, talk
from tests.fixtures import signed_in
from tests.markup import Page


def test_every_message_is_judged_once_over_several_runs_and_quotes_are_checked(
    alice, version, scripted, scan, finish, settings
):
    settings.BATTLES_PER_RUN, settings.RUNS_PER_CAMPAIGN = 4, 2
    runs = [talk(alice).run for _number in range(3)]

    def answers(body):
        last = numbers(body)[-1]
        quote = {1: "share the panels. Then we", 2: "We share the stars."}.get(last, "")
        return reply(lies=bool(quote), force=last, quote=quote, message=last)

    judge = scripted.model("scripted/judge", answers)
    experiment = scan(alice, version, *runs, judge=judge)

    assert finish(experiment) == Campaign.State.COMPLETED
    assert experiment.runs.count() > 1
    assert len(scripted.asked(judge)) == 12 == progress(experiment).decided
    assert given(experiment, "force") == [1, 2, 3, 4] * 3
    found = Annotation.objects.filter(found=True, dimension="lies").order_by("run", "place")
    assert [(one.place, one.is_verified) for one in found] == [(1, True), (2, False)] * 3
    [cited] = found[0].citations
    assert (cited["message"], cited["seq"], cited["verified"]) == (str(found[0].message_id), 1, True)
    assert found[1].citations[0]["verified"] is False
    assert (found[0].judge, found[0].call.step.seat, found[0].made_in.experiment) == (judge, "judge", experiment)

    rows = results.annotations(experiment, alice)
    rate, mean = figures(version.parsed, rows)
    assert (rate.value, rate.n, rate.runs, rate.unverified) == (0.5, 12, 3, 3)
    assert 0 < rate.low < 0.5 < rate.high < 1
    assert (mean.value, mean.is_rate) == (2.5, False)


def test_nothing_is_judged_twice_by_the_same_judge_and_version_unless_asked(alice, version, scripted, scan, finish):
    run = talk(alice).run
    judge = scripted.model("scripted/judge", reply())
    finish(scan(alice, version, run, judge=judge))
    assert len(scripted.asked(judge)) == 4

    second = scan(alice, version, run, talk(alice, turns=1).run, judge=judge)
    assert finish(second) == Campaign.State.COMPLETED
    assert len(scripted.asked(judge)) == 6
    assert figures(version.parsed, results.annotations(second, alice))[0].n == 6

    finish(scan(alice, version, run, judge=judge, again=True))
    assert len(scripted.asked(judge)) == 10
    revised = services.revise(version, by=alice, definition={**DEFINITION, "sees": {"reasoning": True}})
    finish(scan(alice, revised, run, judge=judge))
    assert len(scripted.asked(judge)) == 14


@each_case(("reasoning", "names"), [(True, False), (False, True)])
def test_the_judge_is_sent_what_the_instrument_says_and_nothing_else(alice, scripted, scan, finish, reasoning, names):
    sees = {"reasoning": reasoning, "names": names, "earlier": 1, "instructions": False}
    dimensions = [*DEFINITION["dimensions"], {"kind": "quotation", "name": "words", "title": "Words"}]
    version = services.save(owner=alice, title="Lies", definition={"dimensions": dimensions, "sees": sees})
    record = talk(alice)
    record.reply("A", 3, "I am the A model.")
    judge = scripted.model(f"scripted/{reasoning}-{names}", reply())
    finish(scan(alice, version, record.run, judge=judge))

    sent = [json.dumps(body) for body in scripted.asked(judge)]
    assert len(sent) == 5
    assert any(THOUGHT in one for one in sent) is reasoning
    assert any("A model" in one for one in sent) is names
    assert not any("seven solar panels" in one for one in sent)
    assert all('words\\": {\\"quotations' in one and "The passages, or an empty list" in one for one in sent)
    assert sorted(numbers(body) for body in scripted.asked(judge)) == [[1], [1, 2], [2, 3], [3, 4], [4, 5]]


def test_a_judge_that_never_answers_costs_its_limit_gives_no_value_and_is_asked_again(alice, scripted, scan, finish):
    version = services.save(owner=alice, title="Lies", definition={**DEFINITION, "seconds": 2, "attempts": 2})

    async def never(body):
        await asyncio.sleep(600)
        return reply()

    judge = scripted.model("scripted/judge", never)
    experiment = scan(alice, version, talk(alice, turns=1).run, judge=judge)
    assert finish(experiment) == Campaign.State.OPEN

    calls = Call.objects.filter(run__experiment=experiment)
    assert calls.count() == 2 * 2, "each unit is asked about twice"
    assert all(call.state == Call.State.FAILED and "within 2 s" in call.error for call in calls)
    rows = Annotation.objects.filter(made_in__experiment=experiment)
    assert [row.value for row in rows] == [None] * 4
    assert not any(row.answered for row in rows)
    assert all(len(row.unscored_reason.split()) > 2 for row in rows)
    assert {(row.found, row.confidence, str(row.citations), row.is_verified) for row in rows} == {
        (None, None, "[]", None)
    }
    for figure in figures(version.parsed, results.annotations(experiment, alice)):
        assert (figure.value, figure.low, figure.high, figure.n, figure.missing) == (None, None, None, 0, 2)

    scripted.answers[judge] = [401, reply(force=3)]
    for state in (Campaign.State.OPEN, Campaign.State.COMPLETED):
        assert campaigns.resume(experiment, by=alice)
        assert finish(experiment) == state
    rows = results.annotations(experiment, alice)
    assert {row.value for row in rows.filter(dimension="force")} == {3}
    assert rows.count() == 4


def test_what_the_owner_cannot_see_is_neither_scanned_nor_sent(alice, bob, version, scripted, scan, finish):
    judge = scripted.model("scripted/judge", reply())
    theirs = talk(bob).run
    with pytest.raises(Invalid) as refused:
        scan(alice, version, theirs, judge=judge)
    assert set(refused.value.errors) == {"config.runs"}
    with pytest.raises(Invalid) as refused:
        scan(bob, version, theirs, judge=judge)
    assert set(refused.value.errors) == {"config.version"}

    Experiment.objects.filter(pk=theirs.experiment_id).update(visibility="lab")
    experiment = scan(alice, version, theirs, judge=judge)
    Experiment.objects.filter(pk=theirs.experiment_id).update(visibility="private")
    finish(experiment)
    assert scripted.asked(judge) == []
    assert set(given(experiment)) == {None}


def test_judges_that_differ_are_both_kept_and_nobody_learns_of_a_private_scan_of_a_shared_run(
    alice, bob, version, scripted, scan, finish
):
    run = talk(alice, turns=1).run
    Experiment.objects.filter(pk=run.experiment_id).update(visibility="lab")
    mild, harsh = scripted.model("scripted/mild", reply(force=0)), scripted.model("scripted/harsh", reply(force=4))
    experiment = scan(alice, version, run, judge=mild, judge2=harsh)

    assert finish(experiment) == Campaign.State.COMPLETED
    assert given(experiment, "force") == [4, 0, 4, 0]
    found = figures(version.parsed, results.annotations(experiment, alice))
    assert {one.judge: one.value for one in found if one.dimension.name == "force"} == {mild: 0, harsh: 4}

    assert Annotation.objects.visible_to(alice).count() == 8
    assert not Annotation.objects.visible_to(bob).exists()
    assert signed_in(bob).get(f"/experiments/{experiment.pk}/").status_code == 404
    Experiment.objects.filter(pk=experiment.pk).update(visibility="lab")
    assert Annotation.objects.visible_to(bob).count() == 8
    page = signed_in(bob).get(f"/experiments/{experiment.pk}/").content.decode()
    assert "Lies" in page, "its title and dimensions belong to the scan"


def test_a_deleted_run_takes_its_annotations_and_its_text_in_calls_with_it(alice, version, scripted, scan, finish):
    run, other = talk(alice).run, talk(alice).run
    experiment = scan(alice, version, run, other, judge=scripted.model("scripted/judge", 401, reply()))
    finish(experiment)
    removal.remove([Run.objects.get(pk=run.pk)], by=alice)

    assert {row.run_id for row in Annotation.objects.all()} == {other.pk}
    of_run = Call.objects.filter(run__experiment=experiment, step__key__startswith=f"unit/{run.pk}/")
    assert of_run.exists()
    assert all((call.request, call.text) == ({}, "") for call in of_run)
    assert all(call.request for call in Call.objects.filter(run__experiment=experiment).exclude(pk__in=of_run))


def test_it_is_set_up_watched_and_reported(alice, browser, version, scripted, drive, read):
    runs = [talk(alice, turns=1).run for _number in range(2)]
    judge = scripted.model(
        "scripted/judge",
        lambda body: reply(lies=True, quote="share the panels", message=numbers(body)[-1]),
        is_tool=True,
    )
    address = f"/scan/?version={version.pk}&runs={runs[0].pk}&runs={runs[1].pk}"
    sent = read(browser.get(address)).form(id="setup") | {"seat-judge-model": judge}
    assert "4 units" in browser.post("/scan/estimate/", sent).content.decode()
    answer = browser.post("/scan/", sent)
    experiment = Experiment.objects.get(workflow="scan")
    assert answer["Location"] == f"/experiments/{experiment.pk}/"
    drive(0.3)

    page = read(browser.get(answer["Location"]))
    cells = [row for row in page.root.iter("tr") if row.get("data-dimension") == "lies"]
    assert [cell.text for cell in cells[0].iter("td") if cell.get("data-part") == "value"] == ["100 %"]
    message = Annotation.objects.filter(dimension="lies").first().message_id
    assert page.find("a", href=f"{Annotation.objects.first().run.get_absolute_url()}#message-{message}")
    shard = experiment.runs.first()
    for path in ("", "report/html/", "report/json/", "export/csv/"):
        assert browser.get(f"/runs/{shard.pk}/{path}").status_code == 200, path


def corrected(browser, experiment):
    """By dimension, what stands beside the judge's rate."""
    page = Page(browser.get(f"/experiments/{experiment.pk}/").content.decode())
    cells = page.find("td", **{"data-part": "corrected"})
    return [cell.text for cell in cells]


def test_the_rates_of_a_scan_and_a_later_one_are_corrected_by_its_labels(alice, bob, version, scripted, scan, finish):
    runs = [talk(alice).run for _number in range(4)]
    judge = scripted.model("scripted/judge", lambda body: reply(lies=numbers(body)[-1] == 1, quote="We", message=1))
    first, other = scan(alice, version, *runs, judge=judge), signed_in(bob)
    finish(first)
    browser = signed_in(alice)
    assert corrected(browser, first) == []

    asked = {"version": version, "scan": first, "dimension": "lies", "size": 8, "members": ["bob"]}
    queue = samples.draw(by=alice, **asked)
    for item in queue.items.all():
        label(item, bob, lies=item.stratum == "yes", force=1)
    second = scan(alice, version, *runs, judge=judge)
    finish(second)

    lies, force = corrected(browser, first)
    assert lies.startswith("25 % ")
    assert lies.endswith("8 labeled units")
    assert force.startswith("1 ")
    assert corrected(browser, second) == [], "its units were drawn from the first scan alone"
    assert other.get(f"/experiments/{first.pk}/").status_code == 404


def words(text):
    """The prompt without the token of its markers, which differs from call to call."""
    token = text.partition("[[")[2].partition("]]")[0].split()[-1]
    return text.replace(token, "TOKEN")


def test_the_preview_is_what_the_judge_is_sent_for_one_answer(browser, alice, version, scripted, finish, read):
    run = talk(alice).run
    judge = scripted.model("scripted/judge", reply(lies=True, quote="We share the panels", message=2))
    page = read(browser.get(reverse("instrument-try", args=[version.instrument_id]), {"place": "2", "model": judge}))
    preview = page.find("pre")[0].text_content()
    asked = browser.post(
        reverse("instrument-ask", args=[version.instrument_id]), {"run": run.pk, "place": "2", "model": judge}
    )
    assert read(browser.get(asked["Location"])).by_id("tried").get("hx-get"), "fetched again while a judge is asked"
    scan = Experiment.objects.get(workflow="scan")
    assert finish(scan) == Campaign.State.COMPLETED

    [body] = scripted.asked(judge)
    assert words(preview) == words(body["messages"][0]["content"])
    shown = read(browser.get(asked["Location"])).by_id("tried")
    assert "hx-get" not in shown.attrib
    assert "verified" in shown.text_content()
    assert "unverified" not in shown.text_content()

    sent = read(browser.get(reverse("instrument-new"))).form(id="instrument")
    typed = {"dimensions-0-title": "Warm words", "dimensions-0-kind": "count", "dimensions-0-name": "warm"}
    page = read(browser.post(reverse("instrument-preview"), {**sent, **typed, "place": "1"}))
    prompt = page.find("pre")[0].text_content()
    assert ("Warm words" in prompt, "A1. We share  the panels." in prompt) == (True, True), "before it is saved"
    page = read(browser.post(reverse("instrument-preview"), sent))
    assert page.find("pre") == []
    assert page.by_id("preview").text_content().strip()


def test_a_test_case_kept_on_the_page_or_by_a_program_says_whether_each_version_holds(
    browser, alice, bob, version, scripted, finish, read
):
    run = talk(alice, turns=1).run
    instrument = version.instrument
    keep = reverse("instrument-case-keep", args=[instrument.pk])
    for place, lies, force in ((1, "yes", "2"), (2, "no", "")):
        browser.post(keep, {"run": run.pk, "place": place, "expected-lies": lies, "expected-force": force})
    browser.post(keep, {"run": run.pk, "place": 2, "expected-lies": "", "expected-force": ""})
    assert [one.expected for one in InstrumentCase.objects.all()] == [{"lies": "yes", "force": 2.0}, {"lies": "no"}]

    judge = scripted.model("scripted/judge", reply(lies=False, force=2))
    browser.post(reverse("instrument-cases-run", args=[instrument.pk]), {"model": judge})
    finish(Experiment.objects.get(workflow="scan"))
    found = cases.checked(InstrumentCase.objects.all(), version, alice)
    assert [[check.holds for check in one.checks] for one in found] == [[False, True], [True]]
    page = read(browser.get(reverse("instrument", args=[instrument.pk])))
    assert [row.get("data-holds") for row in page.find("tr") if row.get("data-holds")] == ["no", "yes"]

    mine, path = Api(create_token(alice)), f"instruments/{instrument.pk}/cases/"
    case = {"run": str(run.pk), "place": 1, "expected": {"lies": "no"}}
    assert [one["holds"] for one in mine.get(path).json()] == [False, True]
    kept = mine.post(path, case)
    assert (kept.status_code, [one["holds"] for one in kept.json()]) == (201, [True, True])
    for wrong in ({"place": 99}, {"expected": {"mood": 1}}, {"expected": {"lies": "maybe"}}):
        assert mine.post(path, {**case, **wrong}).status_code == 400
    assert Api(create_token(bob)).get(path).status_code == 404
    assert mine.post(f"{path}run/", {"model": judge}).status_code == 201

    revised = services.revise(version, by=alice, definition={**DEFINITION, "sees": {"reasoning": True}})
    assert [one.holds for one in cases.checked(InstrumentCase.objects.all(), revised, alice)] == [None, None]
    assert mine.delete(f"{path}{InstrumentCase.objects.first().pk}/").status_code == 204
    assert InstrumentCase.objects.count() == 1


def test_others_learn_neither_of_the_run_nor_of_the_cases(bob, alice, version, read):
    run = talk(alice, turns=1).run
    services.revise(version, by=alice, definition=version.definition, shared=True)
    cases.keep(version.instrument, run, by=alice, unit="message", place=1, subject="", expected={"lies": "yes"})
    bobs = signed_in(bob)

    page = bobs.get(reverse("instrument-try", args=[version.instrument_id]), {"run": run.pk, "place": "1"})
    assert "We share" not in page.content.decode()
    assert trying.shown(version.parsed, bob, str(run.pk), "1") is None
    assert run.experiment.title not in bobs.get(reverse("instrument", args=[version.instrument_id])).content.decode()
    case = InstrumentCase.objects.get()
    delete = reverse("instrument-case-delete", args=[version.instrument_id, case.pk])
    keep = reverse("instrument-case-keep", args=[version.instrument_id])
    assert bobs.post(delete).status_code == 404
    bobs.post(keep, {"run": run.pk, "place": "1", "expected-lies": "no"})
    assert InstrumentCase.objects.get().expected == {"lies": "yes"}
    assert bobs.get(reverse("find-runs")).json() == {"results": []}


def test_a_run_is_judged_by_another_instrument_and_no_unit_twice(browser, alice, scripted, finish, woken_runs):
    judge = scripted.model("scripted/judge", reply())
    version = services.save(owner=alice, title="Lies", definition={**DEFINITION, "model": judge})
    run, scans = talk(alice).run, []
    for _time in range(2):
        sent = browser.post(reverse("run-judge", args=[run.pk]), {"instrument": str(version.pk)})
        scans.append(Experiment.objects.filter(workflow="scan").latest("created"))
        assert sent["Location"] == reverse("experiment", args=[scans[-1].pk])
        assert finish(scans[-1]) == Campaign.State.COMPLETED

    assert len(scripted.asked(judge)) == run.annotations.filter(dimension="lies").count() == 4
    assert [scan.runs.count() for scan in scans] == [1, 0]
