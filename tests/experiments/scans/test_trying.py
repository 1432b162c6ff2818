"""An instrument is tried on single units: the preview is what is sent, asking is a scan, test cases are kept."""

from django.urls import reverse

from accounts.tokens import create_token
from experiments.library.instruments import cases, services
from experiments.models import Campaign, Experiment, InstrumentCase
from experiments.workflows.scan.pages import trying
from tests.experiments.api.conftest import Api
from tests.experiments.scans.conftest import DEFINITION, reply, talk
from tests.fixtures import signed_in


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
