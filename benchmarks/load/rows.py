"""`python -m benchmarks.load.rows EXPERIMENT`: what the database has of an experiment's runs, as JSON.

{"records": {run: digest of its events, as a viewer makes it}, "unequal": messages whose text is not that of their call
or their event, "jumps": runs whose events have a hole, "live": runs that have not ended, "calls": all requests}
"""

import hashlib
import json
import os
import sys
from typing import Any

import django

from benchmarks.load.viewer import line


def main(experiment: str) -> dict[str, Any]:
    from experiments.models import Call, Event, Message, Run

    runs = Run.objects.filter(experiment_id=experiment)
    records, jumps, said = {}, 0, {}
    for run in runs:
        record = hashlib.sha256()
        for place, event in enumerate(Event.objects.filter(run=run).order_by("seq").iterator(), 1):
            jumps += event.seq != place
            text = event.data.get("raw_text", "") if event.type == "message_completed" else ""
            if text:
                said[event.data["call"]] = text
            record.update(line(event.seq, event.type, text))
        records[str(run.pk)] = record.hexdigest()
    messages = Message.objects.filter(run__experiment_id=experiment, call__isnull=False).select_related("call")
    unequal = 0
    for message in messages.iterator():
        unequal += not message.raw_text == message.call.text == said.get(str(message.call_id))
    calls = Call.objects.filter(run__experiment_id=experiment)
    return {
        "records": records,
        "unequal": unequal,
        "jumps": jumps,
        "live": runs.filter(ended__isnull=True).count(),
        "calls": calls.count(),
    }


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
    django.setup()
    print(json.dumps(main(sys.argv[1])))
