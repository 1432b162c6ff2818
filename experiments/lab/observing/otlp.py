"""Spans over OTLP/HTTP, as OpenTelemetry's own library sends them: `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME`
and the other variables of its specification hold. The packages are those of the extra `traces`.
"""

import atexit
import os

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from experiments.lab.observing.tracing import Span

SCOPE = InstrumentationScope("arena-lab")
SAMPLED = TraceFlags(TraceFlags.SAMPLED)
LAST_SECONDS = 3  # that a process waits at its end until what it has is sent


class OtlpExporter:
    """Sends in a thread of its own, in batches; when they are not accepted, the oldest are dropped."""

    def __init__(self) -> None:
        name = os.environ.get("OTEL_SERVICE_NAME") or "arena-lab"
        self._resource = Resource.create({"service.name": name})
        self._batches = BatchSpanProcessor(OTLPSpanExporter())
        atexit.register(self.flush)

    def send(self, span: Span) -> None:
        self._batches.on_end(
            ReadableSpan(
                name=span.name,
                context=_context(span.trace_id, span.span_id),
                parent=None if span.parent_id is None else _context(span.trace_id, span.parent_id),
                resource=self._resource,
                attributes=span.attributes,
                kind=SpanKind.CLIENT if span.is_request else SpanKind.INTERNAL,
                status=Status(StatusCode.ERROR if span.error else StatusCode.UNSET),
                start_time=span.began,
                end_time=span.ended,
                instrumentation_scope=SCOPE,
            )
        )

    def flush(self) -> None:
        self._batches.force_flush(1000 * LAST_SECONDS)


def _context(trace_id: int, span_id: int) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=SAMPLED)
