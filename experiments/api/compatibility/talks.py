"""What clients begin: an ordinary experiment with its run, and the row by which the client finds it again."""

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.errors import Conflict
from accounts.models import User
from experiments.api.idempotency import once
from experiments.models import LIVE_STATES, ClientTalk, IdempotentRequest, Run, Step
from experiments.models.client import ClientSystem
from experiments.runs import actions
from experiments.runs.steering.steering import say

ONE_AT_A_TIME = (ClientSystem.ARENA,)


def begin(
    system: ClientSystem,
    *,
    by: User,
    config: Mapping[str, Any],
    cast: Mapping[str, Any],
    workflow: str = "",
    title: str = "",
    key: str = "",
) -> ClientTalk:
    """A talk under way. workflow: where it is not called like the system. key: the client's Idempotency-Key. Raises
    Conflict where the system knows one experiment at a time, and the person's own is under way.
    """

    def act() -> dict[str, str]:
        with transaction.atomic():
            User.objects.select_for_update().get(pk=by.pk)
            if system in ONE_AT_A_TIME and under_way(system, by):
                raise Conflict(_("You already have a running experiment. Stop it first."))
            experiment = actions.create(
                owner=by, workflow=workflow or system.value, title=title, config=dict(config), cast=dict(cast)
            )
            [run] = actions.start(experiment, by=by)
            return {"talk": str(ClientTalk.objects.create(owner=by, system=system, run=run).pk)}

    answer = once(act, by=by, key=key, request=("client", system.value, dict(config), dict(cast)))
    return ClientTalk.objects.select_related("run__experiment").get(pk=answer["talk"])


def run_of(talk: ClientTalk) -> Run:
    """That of a talk that has begun."""
    if talk.run is None:
        raise LookupError("nothing was begun")
    return talk.run


def latest(system: ClientSystem, by: User) -> ClientTalk | None:
    talks = ClientTalk.objects.owned_by(by).filter(system=system).exclude(run=None)
    return talks.select_related("run__experiment").order_by("-created", "-id").first()


def under_way(system: ClientSystem, by: User) -> Run | None:
    talk = latest(system, by)
    return talk.run if talk and talk.run and talk.run.state in LIVE_STATES else None


class Said(TypedDict):
    """What was said at a pause. seq: the number of the event that tells of it."""

    pause: str
    seat: str
    seq: int


def say_at(run: Run, find: Callable[[], Step], *, by: User, action: str, text: str = "", key: str = "") -> Said:
    """Say something at the pause that is found, once under one key; a repetition looks for no pause."""

    def act() -> Said:
        with transaction.atomic():
            pause = find()
            say(run, by=by, key=pause.key, action=action, text=text)
            told = run.events.filter(type="said", data__key=pause.key).latest("seq")
            return {"pause": pause.key, "seat": pause.seat, "seq": told.seq}

    return once(act, by=by, key=key, request=("say", run.pk.hex, action, text))


def is_repeated(key: str, by: User) -> bool:
    return bool(key) and IdempotentRequest.objects.filter(owner=by, key=key).exists()
