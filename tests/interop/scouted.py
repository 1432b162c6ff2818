"""Scans the logs in a folder with Inspect Scout; says what its scanner is shown: `python scouted.py LOGS RESULTS`."""

import json
import sys
from collections.abc import Awaitable, Callable

from inspect_scout import Result, Transcript, scan, scan_results_df, scanner, transcripts_from


@scanner(messages="all", events="all")
def shown() -> Callable[[Transcript], Awaitable[Result]]:
    async def look(transcript: Transcript) -> Result:
        events = transcript.events
        told = {
            "task": transcript.task_set,
            "messages": [message.text for message in transcript.messages],
            "calls": sorted(event.output.completion for event in events if event.event == "model"),
            "spans": sorted({event.name for event in events if event.event == "span_begin"}),
            "scores": [event.score.value for event in events if event.event == "score"],
        }
        return Result(value=json.dumps(told))

    return look


if __name__ == "__main__":
    logs, results = sys.argv[1:]
    status = scan([shown()], transcripts=transcripts_from(logs), scans=results, max_processes=1, display="none")
    assert status.complete, status.errors
    found = scan_results_df(status.location).scanners["shown"]
    json.dump({row["task"]: row for row in map(json.loads, found["value"])}, sys.stdout)
