"""Browsers without JavaScript: Alice's and Charlie's."""

import threading
from typing import Any

import pytest
from django.test import Client

from experiments.engine.driver import Driver
from experiments.models import Run
from tests.fixtures import signed_in
from tests.making import maker


@pytest.fixture(autouse=True)
def nobody_is_woken(woken_runs: list[Any]) -> list[Any]:
    return woken_runs


def drive():
    Driver(threading.Event()).drive(0.1)


@maker
def begun(start, /, experiment):
    run = start(experiment)
    drive()
    return Run.objects.get(pk=run.pk)


@maker
def form(browser, read, request, /, address=None, **changes):
    """What a browser would send of the form at the module's ADDRESS as it is shown, with some changes."""
    sent = read(browser.get(address or request.module.ADDRESS)).form(id="setup")
    sent = {name: value for name, value in sent.items() if "__NUMBER__" not in name}
    return {**sent, **{name.replace("_model", "-model").replace("__", "-"): v for name, v in changes.items()}}


@pytest.fixture
def page_of(browser, read):
    return lambda run: read(browser.get(f"/runs/{run.pk}/"))


@pytest.fixture
def charlies(charlie: Any) -> Client:
    return signed_in(charlie)
