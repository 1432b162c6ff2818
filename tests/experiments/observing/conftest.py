"""What the tests of observing share."""

import pytest
from django.core.cache import caches
from prometheus_client.parser import text_string_to_metric_families

from experiments.observing import counting, families
from experiments.observing.exposition import exposition


@pytest.fixture
def nothing_counted(redis_server):
    """Figures from zero: what other tests have counted is sent and forgotten, and so are workers that they killed."""
    counting.flush()
    redis = counting.connect()
    redis.delete(counting.TOTALS, *redis.scan_iter("rq:worker*"))
    caches["memory"].clear()


@pytest.fixture
def figures(nothing_counted):
    """The value of each sample, by its name and its labels in our order, as Prometheus would read them now."""
    ranks = {family.name.removesuffix("_total"): [*family.labels, "le"] for family in families.every()}

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
