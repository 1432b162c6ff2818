"""A researcher defines an instrument, tries it, scans 60 runs with it, and has 20 findings labeled by two people."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import QUICK, Lab, SignIn, violations

RUNS, LABELED = 60, 20
JUDGE = "sim/judge:first=0:tps=0"
RECORDED = """
from django.utils import timezone
from accounts.models import User
from experiments.models import Experiment, Message, Participant, ProviderModel, Run, Step

now, model = timezone.now(), ProviderModel.objects.get(slug={model!r})
experiment = Experiment.objects.create(
    owner=User.objects.get(username="researcher"), workflow="arena", title="Short talks", config={{"prompt": "Share."}}
)
Participant.objects.create(experiment=experiment, seat="A", model=model)
over = {{"state": "completed", "stop_reason": "max_turns", "started": now, "ended": now}}
runs = Run.objects.bulk_create(Run(experiment=experiment, seed=seed, **over) for seed in range({count}))
said = {{"purpose": "reply", "seat": "A", "turn": 1, "state": "done", "ended": now}}
steps = Step.objects.bulk_create(Step(run=run, key="turn/1/A", kind="ask", **said) for run in runs)
for run, step in zip(runs, steps, strict=True):
    text = f"I give you {{run.seed}} panels. Promise me the night."
    Message.objects.create(
        run=run, step=step, seq=1, turn=1, seat="A", model=model.label, raw_text=text, text=text
    )
print(experiment.pk)
"""
LABELS = """
from accounts.models import User
from experiments.models import ReviewQueue
from experiments.review import answers, slots

queue = ReviewQueue.objects.get(pk={queue!r})
for name in ("reviewer", "curator"):
    by = User.objects.get(username=name)
    while item := slots.next_item(queue, by=by):
        scores, labels = {{"concession": item.number % 5}}, {{"promise": ["yes" if item.number % 3 else "no"]}}
        answers.submit(item, answers.Content(scores=scores, labels=labels), by=by)
"""


def test_an_instrument_is_defined_tried_used_and_held_to_people(lab: Lab, sign_in: SignIn) -> None:
    experiment = lab.shell(RECORDED.format(model=QUICK[0], count=RUNS))
    page = sign_in()
    # Two dimensions: one with an order, and one that is yes or no with a quotation
    page.goto(f"{lab.url}/instruments/")
    page.get_by_role("link", name="New instrument").first.click()
    page.fill("#id_title", "Giving way")
    first = page.locator("[data-row]").first
    first.get_by_label("Label").fill("Concession")
    expect(first.get_by_label("Key for programs")).to_have_value("concession")
    first.get_by_label("From", exact=True).fill("0")
    first.get_by_label("To", exact=True).fill("4")
    first.get_by_label("Anchors, one a line").fill("0 = none\n4 = in everything")
    page.get_by_role("button", name="Add dimension").click()
    second = page.locator("[data-row]").last
    second.get_by_label("Label").fill("Promise")
    second.get_by_label("Measured as").select_option("yes_no")
    expect(second.get_by_label("From", exact=True)).to_be_hidden()
    second.get_by_label("A finding needs a quotation").check()
    expect(page.locator("#preview pre")).to_contain_text("Promise me the night.")
    expect(page.locator("#preview pre")).to_contain_text("promise: Promise.")
    assert violations(page) == []
    page.get_by_role("button", name="Save instrument").click()
    expect(page.locator(".dimensions > li")).to_have_count(2)
    assert violations(page) == []
    page.get_by_role("link", name="Try it").first.click()
    expect(page.locator(".estimate")).to_contain_text("1 call")
    page.get_by_role("button", name="Ask once").click()
    expect(page.locator("#tried .found-value")).to_have_count(2)
    assert violations(page) == []
    page.get_by_label("Promise").select_option("no")
    page.get_by_role("button", name="Keep test case").click()
    expect(page.locator("[data-holds]")).to_have_count(1)
    page.goto(f"{lab.url}/scan/?experiment={experiment}")
    expect(page.get_by_text(f"{RUNS} runs are selected")).to_be_visible()
    page.get_by_label("Instrument", exact=True).select_option(label="Giving way")
    expect(page.locator("#estimate")).to_contain_text(f"{RUNS} units")
    assert violations(page) == []
    page.locator("#start").click()
    to_judge = RUNS - 1  # one was judged when the instrument was tried
    expect(page.locator("[data-part=decided]")).to_contain_text(re.compile(rf"\b{to_judge}\b.*{to_judge}", re.DOTALL))
    expect(page.locator("#scan-figures tr[data-dimension=promise] [data-part=n]")).to_have_text(str(RUNS))
    expect(page.locator("#scan-findings [data-annotation] .mark.verified").first).to_be_visible()
    page.get_by_label("Dimension").select_option("promise")
    page.locator("#findings-title ~ .filters").get_by_role("button", name="Show").click()
    expect(page.get_by_label("Value")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Send a sample to reviewers").first.click()
    page.get_by_label("Equally many of each value of").select_option("promise")
    page.get_by_label("Units to label").fill(str(LABELED))
    reviewers = page.get_by_role("combobox", name="Reviewers")
    for name in ("reviewer", "curator"):
        reviewers.fill(name)
        page.get_by_role("option", name=name).first.click()
    page.get_by_role("button", name="Send to reviewers").click()
    page.wait_for_url(re.compile(r"/review/[0-9a-f-]{36}/$"))
    queue = page.url.rstrip("/").rpartition("/")[2]
    for name in ("reviewer", "curator"):  # blind: neither what the judge said nor which model spoke
        labeling = sign_in(name)
        labeling.goto(f"{lab.url}/review/{queue}/")
        labeling.locator("#next-pair").click()
        expect(labeling.locator("#ask-concession")).to_be_visible()
        assert JUDGE not in labeling.content()
    lab.shell(LABELS.format(queue=queue))
    # Agreement of the judge with people and of people, and the rate with what their labels make of it
    page.reload()
    page.get_by_role("link", name="Giving way v1").click()
    expect(page.locator("#counts")).to_contain_text(f"{2 * LABELED} labels")
    corrected = page.locator("tr[data-figure='promise.yes'], tr[data-figure='promise']").first
    expect(corrected.locator("[data-part=corrected]")).to_contain_text(re.compile(r"\d+(\.\d)? %"))
    expect(page.locator("#disagreements tbody tr").first).to_be_visible()
    assert violations(page) == []
