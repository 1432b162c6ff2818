"""What tests of pages do with a run: they drive it in this process until nothing is left to do."""

import threading

from experiments.engine.driver import Driver


def drive():
    Driver(threading.Event()).drive(0.1)
