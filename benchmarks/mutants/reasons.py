"""Changes that no test notices, and why none is written: each by its file and what the line says before and after."""

REASONS: dict[tuple[str, str, str], str] = {
    (
        "experiments/engine/driver.py",
        "self._executor.close()",
        "pass",
    ): "the calls of fast tests end with the test; tests of ends of workers, which are system tests, need it",
    (
        "experiments/engine/events.py",
        "return json.dumps(message, ensure_ascii=False)",
        "return None",
    ): "viewers have it over Redis, which is away in fast tests; tests of live pages, which are system tests, read it",
    (
        "experiments/engine/excerpts.py",
        "return ()",
        "return None",
    ): "one caller asks only whether there is any, and the other never asks for what is not there",
    (
        "experiments/engine/run_execution.py",
        "self.drain_agenda()  # what they have said is recorded: the next look stops them",
        "pass  # what they have said is recorded: the next look stops them",
    ): "the look that stops the run does it as well; the call saves the time until then",
    (
        "experiments/engine/run_execution.py",
        "if held.overrides != self.run.overrides:",
        "if True:",
    ): "to adopt the same overrides again changes nothing; the condition saves the time",
    (
        "experiments/engine/wakeups.py",
        "job_queue.in_background((channel, about), partial(_publish, channel, about))",
        "pass",
    ): "who listens looks again and again without it; Redis, which brings it, is away in fast tests",
    (
        "experiments/gateway/client.py",
        "if isinstance(item, Completion):",
        "if True:",
    ): "the completion is the last item; the condition tells mypy so",
    (
        "experiments/library/search/excerpts.py",
        "return space if space >= 0 and at < len(text) else min(len(text), at)",
        "return space if space > 0 and at < len(text) else min(len(text), at)",
    ): "the space is one of the last 20 characters of an excerpt, which is longer",
    (
        "experiments/library/instruments/builtin.py",
        'definition=one.definition.model_dump(mode="json"),',
        "definition=one.definition.model_dump(mode='jsonx'),",
    ): "the field writes the same JSON of both",
    (
        "experiments/runs/sharing/sharing.py",
        'wanted = str(last or "")',
        "wanted = str(last or 'x')",
    ): "neither is the id of a project",
    (
        "experiments/runs/steering/steering.py",
        'once(ask, by=by, key=idempotency_key, request=("ask", str(run.pk), text))',
        "once(ask, by=by, key=idempotency_key, request=('askx', str(run.pk), text))",
    ): "it has to differ from the names of other requests, which both do",
    (
        "leaderboard/ratings/bootstrap.py",
        "if not left.size:",
        "if False:",
    ): "steps of no table change nothing; the condition saves the time",
    (
        "leaderboard/ratings/covariates.py",
        "if len(kept) < count:",
        "if len(kept) <= count:",
    ): "to choose all covariates changes nothing; the condition saves the copy",
}
