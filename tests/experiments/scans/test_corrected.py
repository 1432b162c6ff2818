"""A scan's page shows what labels make of its rates."""

from experiments.review.instruments import services
from tests.experiments.reviews.scanned import label
from tests.experiments.scans.conftest import numbers, reply, talk
from tests.fixtures import signed_in
from tests.markup import Page


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
    queue = services.draw(by=alice, **asked)
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
