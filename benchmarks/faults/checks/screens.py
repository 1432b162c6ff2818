"""What viewers have on their screens, after all the broken connections, is the record."""

from collections.abc import Iterator

from benchmarks.faults.facts import Facts


def events(facts: Facts) -> Iterator[str]:
    runs = {run.id: run for run in facts.runs}
    for screen in facts.screens:
        run = runs[screen.run]
        if dict(screen.events) == dict(run.events):
            continue
        missing = sorted(set(run.events) - set(screen.events))
        other = sorted(seq for seq in screen.events if screen.events[seq] != run.events.get(seq))
        yield f"the viewer of run {run.id} lacks events {missing[:10]}; has others at {other[:10]}"


def texts(facts: Facts) -> Iterator[str]:
    """Messages are those of the rows; streamed text is how the recorded text begins, wherever a call has completed."""
    runs = {run.id: run for run in facts.runs}
    for screen in facts.screens:
        run = runs[screen.run]
        calls = {call.id: call for call in run.calls}
        for name, text in screen.messages.items():
            if run.messages.get(name) != text:
                yield f"the viewer of run {run.id} shows other words in message {name}"
        for name, text in screen.texts.items():
            call = calls.get(name)
            if call is None or (call.state == "completed" and not call.text.startswith(text)):
                yield f"the viewer of run {run.id} was streamed other words in call {name}"


def gaps(facts: Facts) -> Iterator[str]:
    for screen in facts.screens:
        if screen.gaps:
            yield f"the viewer of run {screen.run} was sent {screen.gaps} events before an earlier one"
