"""What tests of pages do with a run: they drive it in this process until nothing is left to do, and read its page."""

import threading

from django.urls import reverse

from experiments.engine.driver import Driver


def drive():
    Driver(threading.Event()).drive(0.1)


def page_of(browser, read, run):
    return read(browser.get(reverse("run", args=[run.pk])))
