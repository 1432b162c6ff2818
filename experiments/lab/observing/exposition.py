"""The figures as Prometheus reads them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from django.utils import timezone
from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from experiments.lab.observing import families
from experiments.lab.observing.counting import SUM, field_of
from experiments.lab.observing.families import Family
from experiments.lab.observing.standing import InDatabase, InRedis, Standing, standing
from experiments.models.run import LIVE_STATES
from experiments.workflows import REGISTRY

Samples = dict[tuple[str, ...], float]


def exposition(accept: str) -> tuple[bytes, str]:
    """The text and its content type, as the reader prefers."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Platform())
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


class _Platform(Collector):
    """What does not answer has no figures, apart from the one that says so."""

    def collect(self) -> Iterator[Metric]:
        now = standing()
        if now.redis is not None:
            yield from _counted(_by_family(now.redis.totals))
        for family, samples in _standing(now):
            yield _gauge(family, samples)


def _by_family(fields: dict[str, float]) -> defaultdict[str, Samples]:
    found: defaultdict[str, Samples] = defaultdict(dict)
    for text, value in fields.items():
        name, labels = field_of(text)
        found[name][labels] = value
    return found


def _counted(found: defaultdict[str, Samples]) -> Iterator[Metric]:
    """Every family, also one of which nothing was counted yet. What is no family's was counted by an older release."""
    for family in families.COUNTED:
        samples = found[family.name]
        yield _histogram(family, samples) if family.kind == "histogram" else _counter(family, samples)


def _counter(family: Family, samples: Samples) -> Metric:
    metric = CounterMetricFamily(family.name, family.words, labels=family.labels)
    if not family.labels:
        samples = {(): 0.0, **samples}
    for labels, value in sorted(samples.items()):
        if len(labels) == len(family.labels):
            metric.add_metric(labels, value)
    return metric


def _histogram(family: Family, samples: Samples) -> Metric:
    metric = HistogramMetricFamily(family.name, family.words, labels=family.labels)
    for labels in sorted({labels[:-1] for labels in samples if len(labels) == len(family.labels) + 1}):
        metric.add_metric(labels, list(_buckets(family, labels, samples)), samples.get((*labels, SUM), 0.0))
    return metric


def _buckets(family: Family, labels: tuple[str, ...], samples: Samples) -> Iterator[tuple[str, float]]:
    """Upper ends, and how many values are not above them: each bucket counts those before it, too."""
    so_far = 0.0
    for place, end in enumerate((*map(str, family.bounds), "+Inf")):
        so_far += samples.get((*labels, str(place)), 0.0)
        yield end, so_far


def _gauge(family: Family, samples: Samples) -> Metric:
    metric = GaugeMetricFamily(family.name, family.words, labels=family.labels)
    for labels, value in samples.items():
        metric.add_metric(labels, value)
    return metric


def _standing(now: Standing) -> Iterable[tuple[Family, Samples]]:
    yield families.DATABASE_UP, {(): float(now.database is not None)}
    yield families.REDIS_UP, {(): float(now.redis is not None)}
    if now.disk_free is not None:
        yield families.DISK_FREE, {(): float(now.disk_free)}
    if now.database is not None:
        yield from _of_database(now, now.database)
    if now.redis is not None:
        yield from _of_redis(now, now.redis)


def _of_database(now: Standing, found: InDatabase) -> Iterable[tuple[Family, Samples]]:
    every: Samples = {(workflow, state.value): 0.0 for workflow in REGISTRY for state in LIVE_STATES}
    waited = (timezone.now() - found.oldest).total_seconds() if found.oldest else 0.0
    yield families.RUNS, {**every, **_floats(found.runs)}
    yield families.OLDEST, {(): max(0.0, waited)}
    yield families.LEASES_EXPIRED, {(): float(found.leases["ended"])}
    yield families.IN_FLIGHT, {(provider,): float(count) for provider, count in found.calls.items()}
    yield families.BACKUP, {(): found.backup.at.timestamp()} if found.backup else {}
    yield families.QUEUE_DEPTH, {(queue,): float(count) for queue, count in found.depth.items()}


def _of_redis(now: Standing, found: InRedis) -> Iterable[tuple[Family, Samples]]:
    at_work = [queue for worker in found.workers if not worker.is_silent for queue in worker.queues]
    yield families.QUEUED_JOBS, {(queue,): float(count) for queue, count in found.bells.items()}
    yield families.WORKERS, {(queue,): float(at_work.count(queue)) for queue in now.queues}
    gauges = _by_family(found.gauges)
    for family in families.OF_PROCESSES:
        yield family, gauges[family.name] if family.labels else {(): 0.0, **gauges[family.name]}


def _floats(counts: dict[tuple[str, str], int]) -> Samples:
    return {labels: float(count) for labels, count in counts.items()}
