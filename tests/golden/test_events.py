"""Events of the release before are what their classes say, to the byte."""

import json
import zipfile

from experiments.workflows import event_classes
from tests.golden.test_release import KEPT


def test_every_stored_event_is_read_by_its_class_and_would_be_written_the_same():
    rows = json.loads(zipfile.ZipFile(KEPT).read("rows.json"))
    events = [row["fields"] for row in rows if row["model"] == "experiments.event"]
    written = [event_classes()[event["type"]].read(event["data"]).data() for event in events]

    assert [json.dumps(data) for data in written] == [json.dumps(event["data"]) for event in events]
