"""What people corrected of judges' scores stands beside what the judges gave, once the review is over."""

import pytest
from django.urls import reverse

from experiments.models import Judgment, Run
from experiments.review import queues
from experiments.review.answers import Correction
from experiments.runs.statistics.rows import repeats
from tests.experiments.reviews import reviewed


@pytest.fixture
def queue(alice, mia):
    made = reviewed.queue(alice, mia, turns=1, is_blind=False)
    Run.objects.update(origin=Run.Origin.LIVE, state=Run.State.COMPLETED)
    return made


def _judgment(item):
    return item.judgment or Judgment.objects.get(run=item.run, turn=item.message.turn, subject=item.message.seat)


def cooperation(statistics, subject):
    return statistics.summaries[subject].measures["cooperation"].mean


def test_corrections_stand_beside_the_judges_own_scores_once_the_review_is_over(queue, mia, alice, browser, api, read):
    item = next(item for item in queue.items.order_by("number") if _judgment(item).subject == "A")
    for score in (0.2, -0.6):
        one = Correction(_judgment(item).pk, "cooperation", score, "It gave in.")
        reviewed.answer(item, mia, corrections=(one,))
    experiment = Run.objects.get().experiment
    assert repeats(experiment, reader=alice).corrected is None
    queues.set_open(queue, by=alice, is_open=False)
    found = repeats(experiment, reader=alice)

    assert (cooperation(found.statistics, "A"), cooperation(found.corrected, "A")) == (0.4, -0.6), "the last counts"
    assert cooperation(found.corrected, "B") == cooperation(found.statistics, "B") == 0.4
    assert (found.corrections.count, found.corrections.people) == (1, 1)

    page = read(browser.get(reverse("experiment", args=[experiment.pk])))
    assert "As judged and as corrected" in page.text
    assert "1 judge's score was corrected in review." in page.text
    said = api.get(f"experiments/{experiment.pk}/statistics/").json()
    assert said["subjects"]["A"]["measures"]["cooperation"]["mean"] == 0.4
    assert said["corrected"]["subjects"]["A"]["measures"]["cooperation"]["mean"] == -0.6
    assert (said["corrected"]["scores"], said["corrected"]["people"]) == (1, 1)
