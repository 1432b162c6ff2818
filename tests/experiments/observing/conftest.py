"""What the tests of observing share."""

import json
import logging

import pytest
from django.core.cache import caches
from prometheus_client.parser import text_string_to_metric_families

from accounts.logs import Json, Readable
from arenasite.logs import PathFilter
from experiments.lab.observing import counting
from experiments.lab.observing.exposition import exposition


@pytest.fixture
def nothing_counted(redis_server):
    """Figures from zero: what other tests have counted is sent and forgotten, and so are workers that they killed."""
    counting.flush()
    redis = counting.connect()
    redis.delete(counting.TOTALS, *redis.scan_iter("rq:worker*"), *redis.scan_iter("arena:limits:*"))
    caches["memory"].clear()


@pytest.fixture
def figures(nothing_counted):
    """The value of each sample, by its name and its labels in our order, as Prometheus would read them now."""
    ranks = {family.name.removesuffix("_total"): [*family.labels, "le"] for family in counting.FAMILIES}

    def read():
        counting.flush()
        caches["memory"].clear()
        text, _content_type = exposition("")
        return {
            (sample.name, *(sample.labels[name] for name in ranks[family.name] if name in sample.labels)): sample.value
            for family in text_string_to_metric_families(text.decode())
            for sample in family.samples
        }

    return read


class Lines(logging.Handler):
    """Both forms of every line of every logger."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.addFilter(PathFilter())
        self.readable, self.objects = [], []

    def emit(self, record):
        self.readable.append(Readable().format(record))
        self.objects.append(json.loads(Json().format(record)))

    @property
    def text(self):
        return "\n".join([*self.readable, *map(str, self.objects)])


@pytest.fixture
def lines():
    """Of all loggers at their lowest level, those that the settings keep quieter among them."""
    handler, root = Lines(), logging.getLogger()
    loggers = [root, *map(logging.getLogger, ("httpx", "aiohttp", "rq.worker", "arenasite.requests"))]
    levels = [logger.level for logger in loggers]
    root.addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    yield handler
    root.removeHandler(handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
