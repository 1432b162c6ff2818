"""Traces arrive at a receiver of OTLP over HTTP: runs, steps and calls, as they were recorded, without their words."""

import gzip
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from arenasite.environment import trace_exporter
from experiments.engine import leases
from experiments.lab.observing import tracing
from experiments.models import Call, Run
from tests.answering import answering
from tests.sources import sources

pytestmark = pytest.mark.django_db(transaction=True)

PATH = "experiments.lab.observing.otlp.OtlpExporter"


class Receiver:
    """Takes spans, as `answering` has it."""

    def __init__(self):
        self.spans, self.bodies, self.names = [], [], {}

    def __call__(self, asked):
        body = gzip.decompress(asked.body) if asked.headers.get("Content-Encoding") == "gzip" else asked.body
        self.bodies.append(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.names = {one.key: one.value.string_value for one in resource.resource.attributes}
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        return 200, {}, b""

    def of_kind(self, beginning):
        return [span for span in self.spans if span.name.startswith(beginning)]


@pytest.fixture
def receiver(settings, monkeypatch):
    """The exporter of the settings, sending to us; `flush` sends what there is."""
    receiver = Receiver()
    with answering(receiver) as address:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "our-lab")
        settings.TRACE_EXPORTER = PATH
        tracing._exporter.cache_clear()
        receiver.flush = tracing._exporter(PATH).flush
        yield receiver
        receiver.flush()
        tracing._exporter.cache_clear()


def said(span):
    def plain(value):
        kind = value.WhichOneof("value")
        found = getattr(value, kind)
        return [plain(one) for one in found.values] if kind == "array_value" else found

    return {one.key: plain(one.value) for one in span.attributes}


@pytest.mark.system
def test_a_run_is_a_trace_of_its_steps_and_their_calls_which_say_what_the_conventions_name_and_no_word(
    receiver, arena, start, drive, scripted, monkeypatch
):
    monkeypatch.setenv("KEY_OF_THE_LAB", "sk-canary-7f3a9c55e1d24b08")
    scripted.provider.api_key_env = "KEY_OF_THE_LAB"
    scripted.provider.save()
    speaks = scripted.model("scripted/speaks", "canary-reply")
    run = start(arena(speaks, max_turns=1, prompt="canary-prompt"))
    drive()
    receiver.flush()
    run.refresh_from_db()

    [root] = receiver.of_kind("invoke_workflow")
    assert root.name == "invoke_workflow arena"
    assert root.trace_id == run.pk.bytes
    assert root.parent_span_id == b""
    assert said(root)["gen_ai.workflow.name"] == "arena"
    assert said(root)["arena.run.state"] == "completed"
    assert root.start_time_unix_nano == int(run.started.timestamp() * 1e6) * 1000
    steps = {said(span)["arena.step.key"]: span for span in receiver.of_kind("step ")}
    asked = run.steps.filter(kind="ask")
    assert set(steps) == set(asked.values_list("key", flat=True))
    assert {span.parent_span_id for span in steps.values()} == {root.span_id}
    for span in receiver.of_kind("chat "):
        step = steps[said(span)["arena.step.key"]]
        assert span.parent_span_id == step.span_id
        assert step.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
    assert {span.trace_id for span in receiver.spans} == {root.trace_id}
    assert len({span.span_id for span in receiver.spans}) == len(receiver.spans)
    assert receiver.names["service.name"] == "our-lab"

    call = Call.objects.select_related("step").get(run=run, model__slug=speaks)
    [span] = receiver.of_kind(f"chat {speaks}")
    told = said(span)
    assert span.kind == span.SPAN_KIND_CLIENT
    assert (told["gen_ai.operation.name"], told["gen_ai.provider.name"]) == ("chat", "scripted")
    assert (told["gen_ai.request.model"], told["gen_ai.request.stream"]) == (speaks, True)
    assert told["gen_ai.usage.input_tokens"] == call.input_tokens == 10
    assert told["gen_ai.usage.output_tokens"] == call.output_tokens == 1
    assert told["gen_ai.response.finish_reasons"] == ["stop"]
    assert told["gen_ai.response.time_to_first_chunk"] == call.first_byte_seconds
    assert told["gen_ai.conversation.id"] == told["arena.run.id"] == str(run.pk)
    assert told["arena.call.id"] == str(call.pk)
    assert f"{told['server.address']}:{told['server.port']}/" in scripted.base_url + "/"
    assert "error.type" not in told
    assert span.end_time_unix_nano - span.start_time_unix_nano == pytest.approx(call.seconds * 1e9, abs=1e6)
    assert not any(b"canary" in body for body in receiver.bodies)
    for headers, body in scripted.received:
        assert not {name.lower() for name in headers} & {"traceparent", "tracestate", "baggage"}
        assert "trace" not in str(body), "providers are told of no trace"


@pytest.mark.system
def test_what_fails_or_is_lost_says_of_which_kind(receiver, arena, start, drive, scripted):
    run = start(arena(scripted.model("scripted/fails", 401), max_turns=1))
    taken = leases.claim(run.pk, lambda event: None)
    step = taken.steps.create(key="turn/1/A", kind="ask", purpose="reply", seat="A", turn=1)
    taken.calls.create(step=step, attempt=1, model=taken.experiment.participants.get(seat="A").model, request={})
    Run.objects.filter(pk=run.pk).update(lease_until="2020-01-01T00:00Z")
    drive()
    receiver.flush()

    kinds = {said(span)["error.type"]: span for span in receiver.of_kind("chat scripted/fails")}
    [root], [step] = receiver.of_kind("invoke_workflow"), receiver.of_kind("step reply")
    assert set(kinds) == {"lost", "bad_key"}
    assert said(kinds["lost"])["arena.call.state"] == "lost"
    for span in (kinds["bad_key"], root, step):
        assert span.status.code == span.status.STATUS_CODE_ERROR


@pytest.mark.system
def test_runs_end_when_nobody_takes_traces_or_the_exporter_breaks(settings, monkeypatch, arena, start, drive, caplog):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    for settings.TRACE_EXPORTER in (PATH, "experiments.lab.observing.otlp.Nothing"):
        tracing._exporter.cache_clear()
        run = start(arena(max_turns=1))
        drive()
        tracing._exporter.cache_clear()
        assert Run.objects.get(pk=run.pk).state == "completed"
    assert "a span could not be sent: ImportError" in caplog.text


def test_the_packages_are_needed_only_where_traces_are_asked_for(monkeypatch):
    users = {path for path, one in sources().items() if any("opentelemetry" in name for name in one.imported)}
    assert users == {"experiments/lab/observing/otlp.py"}
    assert not any("experiments.lab.observing.otlp" in one.imported | one.taken for one in sources().values())

    for name in [name for name in sys.modules if name.startswith("opentelemetry.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)  # as if it were not installed
    assert trace_exporter() == ""
    monkeypatch.setenv("ARENA_TRACES", "otlp")
    with pytest.raises(ImproperlyConfigured, match="pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-h"):
        trace_exporter()
