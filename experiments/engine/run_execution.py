"""One run while it is driven: its replay, its seats, the calls under way, and how it comes to an end."""

import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError
from django.db.models import Q, Sum
from django.db.models.functions import Coalesce

from accounts import logs
from experiments.engine import batches, executions, keys, pauses, recording, reservations
from experiments.engine.events import Announce, RunPaused
from experiments.engine.executor import CallResult
from experiments.engine.leases import MANUAL_STOP, Held, finish
from experiments.engine.pauses import recorded_outcomes, started_keys
from experiments.engine.recording import Lease, OpenCall
from experiments.engine.requests import Catalogue, PreparedCall, prepare_call, seats_of
from experiments.engine.reservations import Account, Accounts, OverBudget, OverLimit, Spent, refuse
from experiments.gateway import EmptyAnswer
from experiments.gateway.errors import RateLimited
from experiments.gateway.retry import Wait, decide, may_be_billed
from experiments.gateway.types import Completion
from experiments.models import CALLS_UNDER_WAY, Call, Run
from experiments.models.ids import new_id
from experiments.tasks import clock
from experiments.workflows import workflow_of
from experiments.workflows.base.events import BudgetReached
from experiments.workflows.base.flags import load_ahead
from experiments.workflows.base.records import Record
from experiments.workflows.base.replay import Replay, Todo, passed
from experiments.workflows.base.steps import Ask, Cast, End, Execute, Listen, Outcome
from experiments.workflows.shards import is_sharded

Asked = tuple[Ask, UUID, int]  # with the id of its call, and among how many it is asked at once
MOST_TOGETHER = 5  # calls written ahead in one transaction: none of them leaves before the last is prepared
MOMENT = 0.1  # seconds that one run may keep the driver from its other work
KEY_NOTE_SECONDS = keys.USED_AT_MOST_EVERY.total_seconds()  # between two notes that a key is in use
ROOM_SECONDS = 0.5  # between two looks whether calls under way leave room below the limit of tokens


class RunExecution:
    """Turns the next steps of a replay into recorded work. `submit`, `cancel` and `later` are methods of the driver,
    which has one `catalogue` and the `accounts` for all its runs.
    """

    def __init__(
        self,
        run: Run,
        announce: Announce,
        submit: Callable[[UUID, OpenCall], None],
        cancel: Callable[[UUID], None],
        later: Callable[[float, UUID, Callable[[], None]], None],
        catalogue: Catalogue,
        accounts: Accounts,
    ) -> None:
        self.run = run
        self.lease = Lease(run.pk, run.fence, announce)
        self.calls: dict[UUID, OpenCall] = {}
        self.is_over = False  # nothing is left to drive: the run has ended, or waits for a person
        self.is_dropped = False
        self.is_leaving = False  # its worker ends: calls under way come to their end, and nothing else is begun
        self._continues_later = False  # the rest of the agenda is among the driver's timers
        self._open: dict[str, bool] = {}  # what waits for people, by key: whether it is only an offer
        self._executing: set[str] = set()
        self._postponed: list[Callable[[], None]] = []
        self._batched: dict[UUID, OpenCall] = {}  # calls in a batch whose answers have not come yet
        self._without_room: list[Ask] = []  # what the limit of tokens leaves no room for until one of them has
        self._timers = 0
        self._ending: End | None = None
        self._was_halted = False
        self.is_cancelled = False  # the calls under way were told to stop
        self._refused: Ask | None = None
        self._budget: BudgetReached | None = None  # the one that had no room for it
        self._agenda: deque[Callable[[], None]] = deque()
        self._submit, self._cancel, self._later = submit, cancel, later
        self._seats = seats_of(run)
        self._people = {one.seat: one for one in run.experiment.people.select_related("person")}
        self._config = run.experiment.parsed_config(run.overrides)
        self._limits = self._config.limits
        self.is_shard = is_sharded(run.experiment.workflow)  # its limits are those of all runs of its campaign
        self._catalogue = catalogue
        self._noted: dict[UUID, float] = {}  # stored keys, and when their use was last noted
        self._accounts = accounts
        self._began = reservations.campaign_began(run.experiment_id) if self.is_shard else None
        play = workflow_of(run.experiment.workflow).run(self._config, run.experiment.cast(run.seed))
        recorded: dict[str, Outcome] = {}
        self._asked: set[str] = set()
        self._adopted: dict[str, Call] = {}  # begun by earlier drivers and under way, by key
        if run.steps.exists():  # not of a run that begins
            recorded = recorded_outcomes(run) | executions.recorded(run)
            self._asked, self._adopted = started_keys(run), batches.open_calls(run)
        self._replay = Replay(play, recorded, self._asked)

    @property
    def is_ending(self) -> bool:
        """Whether it waits for nothing but its end."""
        return self._ending is not None and not self._batched

    # --- what the driver calls; whatever the database refuses for now stays on the agenda ---

    def begin(self) -> None:
        if self.run.state != Run.State.STOPPING:
            self._plan(self._replay.start())
            self.drain_agenda()
        elif handed := {key for key, call in self._adopted.items() if call.state == Call.State.SENT}:
            asked = (step for step in self._replay.start().steps if isinstance(step, Ask))
            self._agenda.extend(partial(self._adopt_call, ask) for ask in asked if ask.key in handed)
            self.drain_agenda()  # what they have said is recorded: the next look stops them
        else:
            self.halt(MANUAL_STOP)

    def settle(self, result: CallResult) -> None:
        """A call has ended: record it, then go on with the replay, try again, or come to the end."""
        if call := self.calls.get(result.call_id):
            self._agenda.append(partial(self._close_call, call, result))
            self.drain_agenda()

    def lose(self, call_id: UUID) -> None:
        """The caller of a call has died."""
        if call := self.calls.get(call_id):
            self._agenda.append(partial(self._lose_call, call))
        self.drain_agenda()

    def halt(self, end: End) -> None:
        """End the run now: calls under way are cancelled and what they had said is kept."""
        if not self.is_cancelled:
            self._ending, self._was_halted, self.is_cancelled = self._ending or end, True, True
            for call_id in self.calls:
                self._cancel(call_id)
            self._agenda.append(self._finish_when_quiet)
        self.drain_agenda()

    def look_after(self, held: Held) -> None:
        """What a driver does again and again for each of its runs."""
        self.notice(held)
        self.check_time()

    def check_time(self) -> None:
        """The time spent waiting for people counts towards no limit."""
        seconds, started = self._limits.seconds, self._began or self.run.started
        if seconds is None or started is None or self.is_over:
            return
        waited = 0.0 if self._began else self.run.waited_seconds
        if (clock.now() - started).total_seconds() - waited > seconds:
            self.halt(End("limit_seconds", message=f"The limit of {seconds:g} seconds is reached."))

    def notice(self, held: Held) -> None:
        """What people have changed about the run since the last look, and what they have said."""
        self.run.mode, self.run.is_held = held.mode, held.is_held
        if held.overrides != self.run.overrides:
            self._adopt(held.overrides)
        if self._postponed and not held.is_held:
            self._agenda.extend(self._postponed)
            self._postponed.clear()
        if self._open:
            for key, said in pauses.answers(self.lease, list(self._open)).items():
                del self._open[key]
                self._plan(self._replay.resolve(key, said))
        self._take_batched()
        self.take_executed()

    def take_executed(self) -> None:
        """Go on with what the sandbox has found."""
        if self._executing:
            for key, outcome in executions.outcomes(self.lease, list(self._executing)).items():
                self._executing.discard(key)
                self._plan(self._replay.resolve(key, outcome))
        self.drain_agenda()

    def _take_batched(self) -> None:
        """Settle what has come back for calls in batches."""
        if self._batched:
            for call_id, result in batches.results(self.run.pk, self._batched.values()).items():
                call = self.calls[call_id] = self._batched.pop(call_id)
                self._agenda.append(partial(self._close_call, call, result))

    def _adopt(self, overrides: dict[str, Any]) -> None:
        """The workflow holds the very same configuration, and finds in it what has been changed."""
        self.run.overrides = overrides
        changed = self.run.experiment.parsed_config(overrides)
        for name in {*overrides, "limits"}:  # which may follow from what was changed
            setattr(self._config, name, getattr(changed, name))
        self._limits = self._config.limits

    def drain_agenda(self) -> None:
        """Do what is planned, in order. An action leaves the agenda only once it has succeeded. What takes longer than
        a moment goes on after the driver's other work, so that no lease ends meanwhile.
        """
        until = time.monotonic() + MOMENT
        while self._agenda and not self.is_dropped:
            self._agenda[0]()
            self._agenda.popleft()
            if self._agenda and time.monotonic() > until:
                if not self._continues_later:
                    self._continues_later = True
                    self._later(0, self.run.pk, self._continue)
                return
        self._park_when_quiet()

    def _continue(self) -> None:
        self._continues_later = False
        self.drain_agenda()

    # --- actions: each is one transaction, or none ---

    def _close_call(self, call: OpenCall, result: CallResult) -> None:
        """An attempt has ended: settle it, then wait for the next one, or go on with the replay."""
        with logs.about(step=call.ask.key, call=call.id):
            if self.is_leaving and not result.was_sent:
                recording.withdraw_call(self.lease, call)
                self.calls.pop(call.id, None)
                return
            wait = wait_after(call, result)
            is_final = wait is None or not self._refused  # once that limit is lifted, it is asked again
            retry_in = wait.seconds if wait and not self._ending else None
            outcome = recording.close_call(self.lease, call, result, retry_in=retry_in, is_final=is_final)
            self.calls.pop(call.id, None)
            while self._without_room:
                self._ask_later(0, self._without_room.pop())
            if self._ending:
                self._agenda.append(self._finish_when_quiet)
            elif retry_in is not None:
                self._asked.add(call.ask.key)
                self._ask_later(retry_in, call.ask)
            else:
                self._plan(self._replay.resolve(call.ask.key, outcome))

    def _lose_call(self, call: OpenCall) -> None:
        if not recording.lose_call(self.lease, self.run, call):
            self._submit(self.run.pk, call)  # its answer is there: it is found at the next look
            return
        self.calls.pop(call.id, None)
        if self._ending:
            self._agenda.append(self._finish_when_quiet)
        else:
            self._asked.add(call.ask.key)
            self._ask_later(0, call.ask)

    def _plan(self, todo: Todo) -> None:
        records = [step for step in todo.steps if isinstance(step, Record)]
        if records:
            self._agenda.append(partial(recording.record_facts, self.lease, records))
        if executed := [step for step in todo.steps if isinstance(step, Execute)]:
            self._agenda.append(partial(self._execute, executed))
        among = sum(isinstance(step, Ask) for step in todo.steps)
        together: deque[Asked] = deque()
        for step in todo.steps:
            if isinstance(step, Listen):
                self._agenda.append(partial(self._listen, step))
                together = deque()
            elif isinstance(step, Ask):
                if step.delay:
                    self._ask_later(step.delay, step, among)
                elif together and len(together) < MOST_TOGETHER:
                    together.append((step, new_id(), among))
                else:
                    together = deque([(step, new_id(), among)])
                    self._agenda.append(partial(self._ask_together, together))
                among -= 1
        if todo.end and not self._ending:
            self._ending = todo.end
            self._agenda.append(self._finish_when_quiet)

    def _ask_later(self, seconds: float, ask: Ask, among: int = 1) -> None:
        """among: how many are still to be asked at the same time, and share what the limit of tokens leaves."""
        action = partial(self._ask, ask, new_id(), among)
        if seconds:
            self._timers += 1
            self._later(seconds, self.run.pk, partial(self._do_in_time, action))
        else:
            self._agenda.append(action)

    def _listen(self, pause: Listen) -> None:
        if self._ending:
            return
        is_passed = pause.may_pass and self.run.mode == Run.Mode.AUTOMATIC
        if not is_passed and pauses.open_pause(self.lease, pause):
            self._open[pause.key] = pause.is_offer
        else:
            self._plan(self._replay.resolve(pause.key, passed(pause)))

    def _execute(self, steps: Sequence[Execute]) -> None:
        if not self._ending:
            executions.begin(self.lease, steps)
            self._executing.update(step.key for step in steps)

    def _park_when_quiet(self) -> None:
        """With nothing left but to wait for people, the run waits without a driver; with offers alone it is completed,
        until one of them is taken up.
        """
        is_busy = self.is_over or self._ending or self.calls or self._timers or self._executing
        if is_busy or self.is_leaving or not (self._open or self._postponed or self._batched):
            return
        if not (self._postponed or self._batched) and all(self._open.values()):
            self.is_over = pauses.complete(self.lease, self.run, list(self._open))
        else:
            self._park()

    def _park(self) -> None:
        """Unless somebody, or a batch, has just answered: what was said is found at the next look then."""
        is_held = bool(self._postponed)
        self.is_over = pauses.park(self.lease, list(self._open), is_held=is_held, batched=list(self._batched))

    def _do_in_time(self, action: Callable[[], None]) -> None:
        """A timer has fired. That of a run that was given up meanwhile, or claimed again, does nothing."""
        if self.is_dropped:
            return
        self._timers -= 1
        self._agenda.append(action)
        self.drain_agenda()

    def _ask_together(self, asks: deque[Asked]) -> None:
        """Calls that are begun at once, in one transaction if all of them are for models and none was asked before."""
        for call in self._written_together(asks) if self._are_plain(asks) else ():
            self._send(call)
            asks.popleft()
        while asks:
            self._ask(*asks[0])
            asks.popleft()

    def _are_plain(self, asks: Collection[Asked]) -> bool:
        if len(asks) == 1 or self._ending or self.is_leaving or self.run.is_held or (self.is_shard and self._has_limit):
            return False
        known = {*self._adopted, *self._asked}
        return not any(ask.key in known or (ask.played_by or ask.seat) in self._people for ask, *_ in asks)

    def _written_together(self, asks: Collection[Asked]) -> list[OpenCall]:
        """Those before the first that has no room; none where one was begun before, or a budget has none."""
        accounts, spent, orders = self._accounts.of(self.run.experiment_id), self._spent(), []
        for ask, call_id, among in asks:
            order = self._order(ask, call_id, among, spent)
            if self._over_limit(order, spent):
                break
            cost = spent.cost + (order.reserved or 0)
            spent = replace(spent, cost=cost, under_way=spent.under_way + order.reserved_tokens)
            orders.append((ask, call_id, order))
        try:
            return recording.open_calls(self.lease, orders, accounts) if orders else []
        except (IntegrityError, OverBudget, RunPaused):
            return []

    def _ask(self, ask: Ask, call_id: UUID, among: int) -> None:
        if ask.key in self._adopted:
            self._adopt_call(ask)
            return
        if self._ending or self.is_leaving:
            return
        if self.run.is_held:
            self._postponed.append(partial(self._ask, ask, call_id, among))
            return
        if seated := self._people.get(ask.played_by or ask.seat):
            pauses.ask_person(self.lease, ask, seated)
            self._open[ask.key] = False
            return
        # They may begin a new day, which stays whatever becomes of the call.
        accounts = self._accounts.of(self.run.experiment_id)
        is_shared = self.is_shard and self._has_limit
        with reservations.campaign_locked(self.run.experiment_id) if is_shared else nullcontext():
            try:
                call = self._written(ask, call_id, among, accounts)
            except RunPaused:  # since the last look
                self._postponed.append(partial(self._ask, ask, call_id, among))
                return
        if call:
            self._send(call)

    def _send(self, call: OpenCall) -> None:
        """Have a call made that is written ahead."""
        with logs.about(step=call.ask.key, call=call.id):  # also what the thread does that makes the call
            if call.order.is_batched and not call.order.problem:
                self._batched[call.id] = call
                return
            self.calls[call.id] = call
            if problem := call.order.problem:  # it cannot be sent as it is
                result = CallResult(call.id, self.run.pk, Completion(), problem, seconds=0.0, first_byte_seconds=None)
                self._agenda.append(partial(self._close_call, call, result))
                return
            if call.ask.inspect:
                load_ahead()  # beside the call: its answer may have to be in some language
            self._submit(self.run.pk, call)
            self._agenda.append(partial(self._note_key, call.order.key))

    def _adopt_call(self, ask: Ask) -> None:
        """Wait for what an earlier driver has asked."""
        call = batches.opened(self._adopted[ask.key], ask)
        del self._adopted[ask.key]
        if call.order.is_batched:
            self._batched[call.id] = call
            self._agenda.append(self._take_batched)
        else:
            self.calls[call.id] = call
            self._submit(self.run.pk, call)
            if self.is_cancelled:
                self._cancel(call.id)

    def _written(self, ask: Ask, call_id: UUID, among: int, accounts: Sequence[Account]) -> OpenCall | None:
        """The call, written ahead; None where a limit or a budget has no room for it, or has none for now."""
        spent, is_first = self._spent(), ask.key not in self._asked
        order = self._order(ask, call_id, among, spent)
        if over_limit := self._over_limit(order, spent):
            if over_limit.reason == "limit_tokens" and spent.under_way:
                if self._batched and not self.calls:
                    self._without_room.append(ask)
                else:
                    self._ask_later(ROOM_SECONDS, ask)
            else:
                self._refuse(ask, over_limit)
            return None
        try:
            return recording.open_call(self.lease, ask, order, call_id, accounts, is_first=is_first)
        except OverBudget as over:
            self._refuse(ask, over.over_limit)
            return None

    def _order(self, ask: Ask, call_id: UUID, among: int, spent: Spent) -> PreparedCall:
        limit = self._limits.tokens
        share = None if limit is None else (limit - spent.tokens - spent.under_way) // among
        participant = self._seats[ask.played_by or ask.seat]
        owner_id = self.run.experiment.owner_id
        empties = 0
        if ask.key in self._asked:
            empties = self.run.calls.filter(step__key=ask.key, error_kind=EmptyAnswer.kind).count()
        return prepare_call(
            *(participant, ask, call_id, share, self.run.seed, self._catalogue, owner_id, empties, self.run.pk),
            in_batch=self.run.experiment.uses_batches,
        )

    def _over_limit(self, order: PreparedCall, spent: Spent) -> OverLimit | None:
        limits = self._limits
        cost = None if limits.cost is None else Decimal(str(limits.cost))
        return refuse(spent, order.reserved, order.least_tokens, tokens=limits.tokens, cost=cost)

    def _note_key(self, key: keys.Key) -> None:
        if key.row_id is None or time.monotonic() - self._noted.get(key.row_id, -KEY_NOTE_SECONDS) < KEY_NOTE_SECONDS:
            return
        keys.note_use(key, self.run.pk, self.run.experiment.owner)
        self._noted[key.row_id] = time.monotonic()

    def _refuse(self, ask: Ask, over_limit: OverLimit) -> None:
        """Begin nothing more, and let what is under way, and is paid for, come to its end."""
        self._refused, self._budget = ask, over_limit.budget
        self._ending, self._was_halted = End(over_limit.reason, message=over_limit.message), True
        self._agenda.append(self._finish_when_quiet)

    @property
    def _has_limit(self) -> bool:
        return self._limits.tokens is not None or self._limits.cost is not None

    def _spent(self) -> Spent:
        if not self._has_limit:
            return Spent(0, Decimal(0))
        if self.is_shard:
            of_all = reservations.spent_by_campaign_of(self.run.experiment_id)
            return Spent(of_all.input_tokens + of_all.output_tokens, of_all.cost, of_all.under_way)
        totals = self.run.calls.aggregate(
            input=Sum("input_tokens", default=0),
            output=Sum("output_tokens", default=0),
            cost=Sum(Coalesce("cost", "reserved"), default=Decimal(0)),
            under_way=Sum("reserved_tokens", filter=Q(state__in=CALLS_UNDER_WAY), default=0),
        )
        return Spent(totals["input"] + totals["output"], totals["cost"], totals["under_way"])

    def _finish_when_quiet(self) -> None:
        if self.is_over or self.calls or self._ending is None:
            return
        if self._batched and not self.is_cancelled:  # they are paid for: who drives it next comes to this end again
            self._park()
            return
        refused, budget = self._refused, self._budget
        finish(self.lease, self.run, self._ending, was_halted=self._was_halted, refused=refused, budget=budget)
        self.is_over = True  # only now: what the database refuses stays on the agenda


def wait_after(call: OpenCall, result: CallResult) -> Wait | None:
    """How long to wait before the same is asked again; None when it is not, also where the failed attempt may have cost
    more than may be lost by asking twice.
    """
    if result.error is None or result.is_stopped:
        return None
    if may_be_billed(result.error) and (recording.at_risk(call, result) or 0) > settings.RISK_DOLLARS:
        return None
    jitter = Cast({}, call.attempt).random(str(call.id)).random()
    failures = call.failures + 1  # with this one
    if call.ask.attempts is not None and failures >= call.ask.attempts:
        return None
    verdict = decide(result.error, failures, jitter=jitter)
    if not isinstance(verdict, Wait):
        return None
    # With patience set, another model is asked rather than to wait for long until this one's rate limit has passed.
    if call.ask.patience is not None and isinstance(result.error, RateLimited):
        return None if failures > 1 or verdict.seconds > call.ask.patience else verdict
    return verdict
