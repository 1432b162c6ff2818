"""The figures as Prometheus reads them."""

from collections import defaultdict
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from experiments.lab.observing import counting
from experiments.lab.observing.counting import SUM, Family, field_of
from experiments.lab.observing.status import Status, status
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
        now = status()
        if now.redis is not None:
            totals = _by_family(now.redis.totals)
            for family in counting.COUNTED:  # what is no family's was counted by an older release
                yield (
                    _histogram(family, totals[family.name]) if family.bounds else _counter(family, totals[family.name])
                )
        for family, samples in _gauges(now):
            metric = GaugeMetricFamily(family.name, family.words, labels=family.labels)
            for labels, value in samples.items():
                metric.add_metric(labels, value)
            yield metric


def _by_family(fields: dict[str, float]) -> defaultdict[str, Samples]:
    found: defaultdict[str, Samples] = defaultdict(dict)
    for text, value in fields.items():
        name, labels = field_of(text)
        found[name][labels] = value
    return found


def _counter(family: Family, samples: Samples) -> Metric:
    metric = CounterMetricFamily(family.name, family.words, labels=family.labels)
    if not family.labels:
        samples = {(): 0.0, **samples}
    for labels, value in sorted(samples.items()):
        if len(labels) == len(family.labels):
            metric.add_metric(labels, value)
    return metric


def _histogram(family: Family, samples: Samples) -> Metric:
    """Each bucket counts the values up to its end, those of the buckets before it among them."""
    metric = HistogramMetricFamily(family.name, family.words, labels=family.labels)
    for labels in sorted({labels[:-1] for labels in samples if len(labels) == len(family.labels) + 1}):
        so_far, buckets = 0.0, []
        for place, end in enumerate((*map(str, family.bounds), "+Inf")):
            so_far += samples.get((*labels, str(place)), 0.0)
            buckets.append((end, so_far))
        metric.add_metric(labels, buckets, samples.get((*labels, SUM), 0.0))
    return metric


def _gauges(now: Status) -> Iterator[tuple[Family, Samples]]:
    yield counting.DATABASE_UP, {(): float(now.database is not None)}
    yield counting.REDIS_UP, {(): float(now.redis is not None)}
    if now.disk_free is not None:
        yield counting.DISK_FREE, {(): float(now.disk_free)}
    if (found := now.database) is not None:
        every: Samples = {(workflow, state.value): 0.0 for workflow in REGISTRY for state in LIVE_STATES}
        yield counting.RUNS, {**every, **{labels: float(count) for labels, count in found.runs.items()}}
        yield counting.OLDEST, {(): found.oldest_queued_seconds}
        yield counting.LEASES_EXPIRED, {(): float(found.leases["ended"])}
        yield counting.IN_FLIGHT, {(provider,): float(count) for provider, count in found.calls.items()}
        yield counting.BACKUP, {(): found.backup.at.timestamp()} if found.backup else {}
        yield counting.QUEUE_DEPTH, {(queue,): float(count) for queue, count in found.depth.items()}
    if (redis := now.redis) is not None:
        at_work = [queue for worker in redis.workers if not worker.is_silent for queue in worker.queues]
        yield counting.QUEUED_JOBS, {(queue,): float(count) for queue, count in redis.jobs.items()}
        yield counting.WORKERS, {(queue,): float(at_work.count(queue)) for queue in now.queues}
        gauges = _by_family(redis.gauges)
        for family in counting.OF_PROCESSES:
            yield family, gauges[family.name] if family.labels else {(): 0.0, **gauges[family.name]}
