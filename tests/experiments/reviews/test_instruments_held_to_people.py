"""Samples of what an instrument has judged go to reviewers blind, and the card says what their labels tell."""

import pytest

from accounts.errors import Conflict, Invalid
from experiments.review import queues, slots
from experiments.review.instruments import card
from experiments.review.instruments.quantities import figures, quantities
from experiments.review.item_page import ItemPage
from leaderboard.ratings.values import Reason, Undefined
from tests.cases import each_case
from tests.experiments.reviews import scanned
from tests.fixtures import signed_in


@pytest.fixture
def scan(alice):
    """Twenty messages, each in a run of its own: the judge says yes of eight."""
    made = scanned.Scan(alice, scanned.version_of(alice, shared=True))
    for number in range(20):
        made.judged(opus={"refuses": number < 8, "strength": number % 3})
    return made


def test_a_sample_that_can_be_has_equally_many_of_each_value_and_asks_the_instruments_questions(scan, bob, cora):
    for asked in ({"dimension": "wit"}, {"judge": "another"}, {"size": 3}, {"size": 12, "is_lab": True, "by": cora}):
        with pytest.raises(Invalid):
            scan.sampled(bob, **{"by": scan.owner, **asked})
    scan.run.state = "running"
    scan.run.save(update_fields=["state"])
    with pytest.raises(Conflict):
        scan.sampled(bob)
    assert not scan.version.queues.exists()
    scan.run.state = "completed"
    scan.run.save(update_fields=["state"])

    queue = scan.sampled(bob, size=12, seed=4)
    items = list(queue.items.all())

    assert sorted((one.stratum, one.probability) for one in items) == [("no", 6 / 12)] * 6 + [("yes", 6 / 8)] * 6
    assert queue.sample["strata"] == {"yes": 8, "no": 12}
    assert [one["name"] for one in queue.rubric.labels] == ["refuses"]
    assert [(one["name"], one["low"], one["high"]) for one in queue.rubric.scales] == [("strength", 0, 2)]
    assert (queue.is_blind, queue.rubric.shared) == (True, False)

    again = scan.sampled(bob, size=8, seed=4)
    assert len({one.subject for one in (*items, *again.items.all())}) == 20, "what is drawn is not drawn again"
    assert queues.fill(queue, by=scan.owner) == 0


def test_reviewers_see_of_names_and_reasoning_what_the_judge_saw_and_no_values(scan, alice, bob, read):
    item = scan.sampled(bob, size=4).items.first()
    item.run.messages.update(reasoning="I must not tell.")
    browser = signed_in(bob)

    page = read(browser.get(item.get_absolute_url())).text
    told = browser.get(f"/api/review/items/{item.pk}/").json()

    assert item.message.text in page
    assert not any(name in page for name in ("opus", "A model", "A scan", "I must not tell."))
    assert {one["model"] for one in told["messages"]} == {None}
    assert not any(name in str(told) for name in ("opus", "I must not tell."))

    version = scanned.version_of(alice, definition={"sees": {"names": True, "reasoning": True}})
    made = scanned.Scan(alice, version)
    for value in (True, True, False, False):
        record = made.judged(opus={"refuses": value, "strength": 0})
        record.run.messages.update(reasoning="I must not tell.")

    said = ItemPage(made.sampled(bob, size=4).items.first(), bob).shown[0]
    assert (said.model, said.reasoning) == ("A model", "I must not tell.")


@each_case("unit", ["turn", "run"])
def test_a_participants_part_of_a_turn_or_a_run_is_an_item_of_its_own(alice, bob, unit):
    made = scanned.Scan(alice, scanned.version_of(alice, definition={"unit": unit, "each_speaker": True}))
    record = made.judged(unit=unit, seat="A", opus={"refuses": True})
    made.judged(record, unit=unit, seat="B", opus={"refuses": False})

    items = made.sampled(bob, size=2).items.all()

    shown = [(item.seat, [(one.message.seat, one.message.turn) for one in ItemPage(item, bob).shown]) for item in items]
    assert sorted(shown) == [("A", [("A", 1)]), ("B", [("B", 2)])]
    for item in items:
        scanned.label(item, bob, refuses=item.seat == "A")
    assert card.of(made.version, alice).quantities[0].judges[0].agreement.table == ((1, 0), (0, 1))


def test_the_card_has_agreement_by_the_samples_weights_and_the_corrected_rate_of_what_one_sees(scan, alice, dora, bob):
    """Bob labels six of each: he says no of one yes, and yes of one no."""
    queue = scan.sampled(bob, size=12)
    seen = {"yes": 0, "no": 0}
    for item in queue.items.order_by("number"):
        seen[item.stratum] += 1
        scanned.label(item, bob, refuses=(item.stratum == "yes") != (seen[item.stratum] == 1), strength=1)
    found = card.of(scan.version, alice)
    refuses = found.quantities[0]
    [judge] = refuses.judges
    [detection] = judge.detections
    [rate] = [one for one in found.scans[0].rates if one.figure.name == "refuses"]

    assert (found.labels, found.units, found.people) == (12, 12, 1)
    assert judge.agreement.table == ((5, 1), (1, 5))
    assert judge.agreement.percent.value == pytest.approx((5 * 8 / 6 + 5 * 12 / 6) / 20)
    assert detection.precision.value == pytest.approx(5 / 6)
    assert detection.recall.value == pytest.approx((5 * 8 / 6) / (5 * 8 / 6 + 12 / 6))
    assert (rate.units, rate.labels, rate.raw.value) == (20, 12, 0.4)
    assert rate.by_labels.value == pytest.approx(0.4 * 5 / 6 + 0.6 / 6)
    assert rate.rogan_gladen.value == pytest.approx(rate.by_labels.value)
    assert rate.by_labels.interval[0] < rate.by_labels.value < rate.by_labels.interval[1]
    assert refuses.people.percent.value == Undefined(Reason.UNLABELED)
    disagreements = {(one.said, one.label) for one in found.disagreements if one.title == "Refuses"}
    assert disagreements == {("yes", "no"), ("no", "yes")}

    slots.undo(queue, by=bob)
    before = card.of(scan.version, alice)
    item = queue.items.filter(slots__answer__isnull=False).first()
    slots.reveal(item, by=bob)
    scanned.label(item, bob, refuses=item.stratum != "yes", strength=2)
    assert before.labels == 11, "one taken back is gone"
    assert card.of(scan.version, alice) == before, "an answer after a look behind changes nothing"

    for stranger in (dora, bob):  # bob reviews in the queue, which is blind and open, and does not see the scan
        found = card.of(scan.version, stranger)
        assert (found.labels, found.scans, found.disagreements) == (0, (), ())
    scan.experiment.visibility = "lab"
    scan.experiment.save(update_fields=["visibility"])
    found = card.of(scan.version, dora)
    assert (found.labels, [one.units for one in found.scans]) == (0, [0]), "its transcripts are Alice's own"


def test_several_judges_and_several_people_are_compared_with_each_other(alice, bob, dora):
    made = scanned.Scan(alice, scanned.version_of(alice, [scanned.TONE]))
    for number in range(12):
        value = "warm" if number % 2 else "cold"
        made.judged(opus={"tone": value}, haiku={"tone": value if number < 9 else None})
    queue = made.sampled(bob, dora, dimension="tone", judge="opus", size=12, overlap=2)
    for item in queue.items.all():
        scanned.label(item, bob, tone=item.stratum)
        scanned.label(item, dora, tone=item.stratum)

    [tone] = card.of(made.version, alice).quantities

    [between] = tone.between
    assert (between.first, between.second, between.agreement.pairs) == ("haiku", "opus", 9)
    assert (tone.people.pairs, tone.people.percent.value, tone.people.alpha.value) == (12, 1.0, 1.0)
    assert {one.judge: one.agreement.pairs for one in tone.judges} == {"haiku": 18, "opus": 24}
    assert [one.word for one in tone.judges[0].detections] == ["Warm", "Cold"]


def test_each_kind_of_dimension_is_a_quantity_with_its_level_and_figures(alice):
    multiple = {**scanned.TONE, "name": "signs", "multiple": True}
    ordered = {**scanned.TONE, "name": "order", "ordered": True}
    count = {"kind": "count", "name": "times", "title": "Times", "most": 3}
    passages = {"kind": "quotation", "name": "words", "title": "Words"}
    definition = scanned.version_of(alice, [multiple, ordered, count, passages, scanned.STRENGTH]).parsed

    found = quantities(definition)

    assert [(one.name, one.level, len(one.values)) for one in found] == [
        ("signs.warm", "nominal", 2),
        ("signs.cold", "nominal", 2),
        ("order", "ordinal", 2),
        ("times", "interval", 4),
        ("words", "nominal", 2),
        ("strength", "ordinal", 3),
    ]
    values = [["cold"], ["cold"], "cold", 17, ["a passage"], 2.0]
    assert [one.of_instrument(value) for one, value in zip(found, values, strict=True)] == [0, 1, 1, 3, 1, 2]
    assert [figure.name for one in found for figure in figures(one)] == [
        *("signs.warm", "signs.cold", "order.warm", "order.cold", "times", "words", "strength"),
    ]


def test_a_researcher_sends_samples_by_page_or_program_and_reads_the_card_with_reasons_in_the_place_of_numbers(
    scan, bob, browser, read
):
    address = f"/review/scans/{scan.experiment.pk}/sample/"
    assert browser.get(address).status_code == 200
    refused = browser.post(address, {"dimension": "refuses", "judge": "opus", "size": 3, "overlap": 1})
    assert (refused.status_code, list(refused.context["form"].errors)) == (422, ["size"])

    fields = {"dimension": "refuses", "judge": "opus", "size": 12, "overlap": 1, "members": ["bob"]}
    answer = browser.post(address, fields)
    queue = scan.version.queues.get()
    assert answer["Location"] == queue.get_absolute_url()
    assert read(browser.get(queue.get_absolute_url())).text.count("refuses")
    asked = {"scan": str(scan.experiment.pk), "dimension": "refuses", "size": 4, "members": ["bob"]}
    assert browser.post("/api/review/samples/", {**asked, "size": 1}, "application/json").status_code == 400
    made = browser.post("/api/review/samples/", asked, "application/json").json()
    assert (made["items"], made["sample"]["judge"], made["over"]) == (4, "opus", "units")
    assert signed_in(bob).post("/api/review/samples/", asked, "application/json").status_code == 404
    found = browser.get(f"/api/instruments/{scan.version.instrument_id}/card/").json()
    [rate] = [one for one in found["scans"][0]["rates"] if one["name"] == "refuses"]
    assert rate["raw"]["value"] == 0.4
    assert (rate["corrected"]["value"], rate["corrected"]["undefined"]) == (None, "unlabeled")
    assert len(found["missing"]) == 1

    for item in queue.items.all():
        scanned.label(item, bob, refuses=True)

    page = read(browser.get(f"/instruments/{scan.version.instrument_id}/card/"))

    [row] = page.find("tr", **{"data-figure": "refuses"})
    assert [cell.text.partition(" %")[0] for cell in row.findall("td")[1:3]] == ["40", "100"]
    compared, _table, detected = page.by_id("refuses").findall(".//table")
    assert [cell.text.partition(" %")[0] for cell in compared.findall("tbody/tr/td")[2:3]] == ["40"]
    cells = [cell.text for cell in detected.findall("tbody/tr/td")]
    assert [cell.partition(" %")[0] for cell in cells] == ["100", "40", "labels are missing"]
    assert len(page.by_id("disagreements").findall("tbody/tr")) == 6
    assert browser.get(f"/instruments/{scan.version.instrument_id}/card/?version=2").status_code == 404
