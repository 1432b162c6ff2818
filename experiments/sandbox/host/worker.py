"""The worker of the sandbox: it tests its machine, and runs code that waits in several boxes at once.

The main thread alone touches the database; threads wait for boxes.
"""

import hashlib
import json
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any, cast

from django.conf import settings
from django.db import close_old_connections

from accounts import logs
from experiments import sandbox
from experiments.engine import executions
from experiments.engine.events import announce_now
from experiments.engine.jobs import BaseWorker, heartbeat, run_looks
from experiments.engine.text import storable, storable_data
from experiments.models import Execution, Run
from experiments.sandbox.host import hosts
from experiments.sandbox.standby import Standby
from experiments.sandbox.values import shallow
from experiments.tasks.clock import Every
from experiments.workflows import REGISTRY

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.05
AHEAD = 2  # times what runs at once is taken: no box waits for the database
SPARE_SECONDS = 5.0
REST_SECONDS = 2.0  # of an execution for which there was no sandbox
LONGEST_VALUE = 4_000  # characters of JSON that are kept of what a program gave
Found = dict[str, object]
PLAYED = (Run.State.QUEUED, Run.State.RUNNING)
stop_requested = threading.Event()
standby = Standby()
announcing = ThreadPoolExecutor(1, thread_name_prefix="announcing")  # to viewers, for whom no execution waits


# --- the job ---


def run_waiting() -> None:
    close_old_connections()
    run_all(stop_requested, heartbeat)


class SandboxWorker(BaseWorker):
    """One job at a time, in this process: the job runs all that waits, several boxes at once."""

    def work(self, *args: Any, **kwargs: Any) -> bool:
        with standby:
            threading.Thread(target=_sweep_forever, name="sweep", daemon=True).start()
            return bool(super().work(*args, **kwargs))

    def request_stop(self, signum: int, frame: Any) -> None:
        stop_requested.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # rq has it untyped


def _sweep_forever() -> None:
    """Find executions that no job was enqueued for, and report that this machine is there."""
    clock = Every(hosts.TOLD_SECONDS)

    def report_host() -> None:
        if clock.is_due() or hosts.is_doubted.is_set():
            hosts.look()

    while True:
        run_looks(report_host, sweep, keep_boxes)
        time.sleep(settings.SWEEP_SECONDS)


def sweep() -> None:
    if Execution.objects.claimable().exists():
        executions.wake()


def keep_boxes() -> None:
    """Have boxes started ahead while a run is played that will need them, and none otherwise: they take memory."""
    executing = [workflow.slug for workflow in REGISTRY.values() if workflow.executes]
    is_played = Run.objects.filter(state__in=PLAYED, experiment__workflow__in=executing).exists()
    if not is_played or not settings.SANDBOX_STANDBY:
        standby.keep(0)
        return
    try:
        backend, _required = sandbox.sufficient(hosts.wanted_backend())
    except sandbox.Unavailable:
        standby.keep(0)
    else:
        standby.keep(settings.SANDBOX_STANDBY, backend)


# --- executions under way ---


@dataclass(slots=True)
class Flight:
    """An execution in a box. unwanted: it is to be ended."""

    execution: Execution
    unwanted: threading.Event = field(default_factory=threading.Event)


def run_all(stop: threading.Event, heartbeat: Callable[[], None] = lambda: None) -> None:
    """Run all that waits, and return when nothing does."""
    with ThreadPoolExecutor(settings.SANDBOX_AT_ONCE, thread_name_prefix="box") as threads:
        flights: dict[Future[Found], Flight] = {}
        try:
            _run_until_none_waits(threads, flights, stop, heartbeat)
        finally:
            for flight in flights.values():
                flight.unwanted.set()
            executions.give_back([flight.execution for flight in flights.values()])


def _run_until_none_waits(
    threads: ThreadPoolExecutor,
    flights: dict[Future[Found], Flight],
    stop: threading.Event,
    heartbeat: Callable[[], None],
) -> None:
    clock = Every(settings.LEASE_SECONDS / 4)
    done: set[Future[Found]] = set()
    while True:
        takes_none = stop.is_set() or (not flights and hosts.is_spared())
        room = 0 if takes_none else AHEAD * settings.SANDBOX_AT_ONCE - len(flights) + len(done)
        for execution in executions.take(room):
            if execution.claim > executions.MOST_CLAIMS:
                executions.fail(execution, executions.FAILED, "The sandbox's worker died each time that it ran this.")
            else:
                flight = Flight(execution)
                flights[threads.submit(_try, execution, flight.unwanted)] = flight
        for future in done:  # only now: the next ones run meanwhile
            flight = flights.pop(future)
            if not flight.unwanted.is_set():  # what was broken off has found nothing
                with logs.about(run=flight.execution.run_id, step=flight.execution.step.key):
                    _settle(flight.execution, future)
        if stop.is_set() or not (flights or done):
            return
        if clock.is_due():
            lost = executions.renew([flight.execution for flight in flights.values()])
            for flight in flights.values():
                if flight.execution.pk in lost:
                    flight.unwanted.set()
            heartbeat()
        done = wait(flights, LOOK_SECONDS, FIRST_COMPLETED).done


def _settle(execution: Execution, future: "Future[Found]") -> None:
    """Whatever goes wrong with one execution ends no other. What the database refuses is found out anew later."""
    try:
        found = future.result()
    except sandbox.Unavailable as error:
        hosts.is_doubted.set()
        if execution.claim < executions.MOST_CLAIMS:
            executions.put_back(execution)  # it may have been a moment's want, or another machine can
        else:
            executions.fail(execution, executions.UNAVAILABLE, str(error))
    except Exception as bug:
        logger.exception("the sandbox failed")
        executions.fail(
            execution, executions.FAILED, f"The sandbox failed ({type(bug).__name__}). Nothing recorded is lost."
        )
    else:
        executions.settle(execution, found, lambda event: announcing.submit(announce_now, event))


# --- in a thread of its own, without a database ---


def _try(execution: Execution, unwanted: threading.Event) -> Found:
    """Raises Unavailable where there is no sandbox just now: after a while, so that a moment's want does not use up all
    its tries.
    """
    seconds, memory = execution.seconds_limit, execution.memory_limit
    in_all = (seconds + 1) * len(execution.tests) + SPARE_SECONDS
    comparison = cast("sandbox.Comparison", execution.comparison)  # the workflow offers no others
    try:
        found = sandbox.run(
            execution.code,
            [sandbox.Test(test["name"], test["arguments"], test["expected"], comparison) for test in execution.tests],
            replace(sandbox.Limits(), seconds=seconds, memory=memory, total_seconds=in_all),
            entry=execution.entry,
            language=execution.language,
            backend=hosts.wanted_backend(),
            until_failure=execution.until_failure,
            is_cancelled=unwanted.is_set,
            started_ahead=standby.take,
        )
    except sandbox.Unavailable:
        if execution.claim < executions.MOST_CLAIMS:
            unwanted.wait(REST_SECONDS)
        raise
    return {
        "results": [_stored(shallow(result)) for result in found.results],
        "complaint": storable(found.complaint),
        "backend": found.backend,
        "layers": list(found.layers),
        "is_unsafe": found.is_unsafe,
        "seconds": found.seconds,
    }


def _stored(result: dict[str, Any]) -> dict[str, Any]:
    """A result as it is stored: a very long value is represented by its hash."""
    text = json.dumps(result.get("value"), ensure_ascii=True)
    if len(text) > LONGEST_VALUE:
        result = {**result, "value": f"{text[:200]}…", "value_sha256": hashlib.sha256(text.encode()).hexdigest()}
    stored: dict[str, Any] = storable_data(result)
    return stored
