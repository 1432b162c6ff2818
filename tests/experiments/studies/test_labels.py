"""What an instrument found in the runs of a study is corrected by what people say of a sample of it."""

import io
import zipfile

import pytest
from django.urls import reverse

from experiments.models import Annotation, Message, ReviewQueue
from experiments.studies import folder, results, services
from leaderboard.ratings.studies import labeled
from tests.experiments.reviews import scanned
from tests.experiments.studies import designs

pytestmark = pytest.mark.django_db


def test_labels_of_a_closed_queue_correct_the_contrast(provider, alice, bob, browser, drive, read):
    """A scan finds a refusal in every second answer of each run; Bob says of all of them that they are none."""
    version = scanned.version_of(alice, shared=True)
    source = {"of": "annotation", "version": str(version.pk), "dimension": "refuses", "seat": "model"}
    outcomes = [{"name": "refuses", "kind": "score", "source": source, "least": 0, "most": 1}]
    contrast = {"name": "models", "outcome": "refuses", "first": {"model": "long"}, "second": {"model": "short"}}
    plan = {"outcomes": outcomes, "contrasts": [contrast]}
    study = services.create(owner=alice, title="Refusals", design=designs.design(repeats=1), plan=plan)
    services.lock(study, by=alice)
    services.start(study, by=alice)
    drive()
    scan = scanned.Scan(alice, version)
    answers = Message.objects.filter(run__planned__study=study, seat="model").order_by("pk")
    units = len(answers)
    for message in answers:
        Annotation.objects.create(
            run=message.run, message=message, unit="message", place=message.seq, turn=message.turn, subject="model",
            version=version, dimension="refuses", judge="opus", made_in=scan.run, value=message.turn % 2 == 0,
        )  # fmt: skip

    def unlabeled():
        look = results.look(study, by=alice)
        files = zipfile.ZipFile(io.BytesIO(b"".join(folder.folder(look)))).namelist()
        return (look.results["corrected"], look.labels, "study/labels.csv" in files) == ([], "", False)

    assert unlabeled()
    queue = scan.sampled(bob, size=units)
    for item in queue.items.all():
        scanned.label(item, bob, refuses=False)
    assert unlabeled(), "reviewers could read there what others said"
    ReviewQueue.objects.filter(pk=queue.pk).update(state=ReviewQueue.State.CLOSED)
    look = results.look(study, by=alice)
    [found] = look.results["corrected"]

    assert look.results["results"][0]["first"]["value"] > 0.3
    assert (sum(found["labels"]), found["first"]["value"], found["difference"]["value"]) == (units, 0.0, 0.0)
    written = labeled.read(look.labels)
    assert {(one.outcome, one.label) for one in written} == {("refuses", 0.0)}
    assert {one.stratum for one in written} == {"yes", "no"}
    page = read(browser.get(reverse("study", args=[study.pk])))
    [shown] = page.find("span", **{"data-part": "corrected"})
    assert f"Corrected by {units} labels of people: 0" in " ".join(shown.text.split())
    files = zipfile.ZipFile(io.BytesIO(b"".join(folder.folder(look))))
    assert files.read("study/labels.csv").decode() == look.labels
    assert "labels.csv: share" in files.read("study/dictionary.csv").decode()
