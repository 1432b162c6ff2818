"""What is given out about the kept runs: pages as they are read, answers of the API, reports, exports."""

import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.test import Client
from django.urls import reverse
from lxml import html
from pypdf import PdfReader

from experiments.models import Experiment, Run
from experiments.runs.reports.formats import FORMATS, unheard

FILES = ("json", "jsonl", "csv", "inspect")
LISTS = ("messages", "judgments", "ballots", "cycles", "executions", "calls", "events", "lineage", "battles")
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?|\b\d\d:\d\d:\d\d\b")
TIMES = re.compile(r'("\w*(?:seconds|latency|ttft|duration|total_time|working_time|\bms|tokens_per)\w*": ?)-?[\d.e-]+')
INVISIBLE = ("script", "style", "template", "svg", "head", "noscript")


def all_runs() -> Iterator[tuple[str, Run]]:
    """Each with the name under which its outputs are kept."""
    for number, run in enumerate(Run.objects.select_related("experiment").order_by("pk"), 1):
        yield f"{number:02} {run.experiment.workflow}", run


def as_shown(client: Client) -> Iterator[tuple[str, str]]:
    """Name and text of what people read: pages and reports, and the API's description of itself."""
    seen: set[str] = set()
    for name, run in all_runs():
        yield f"{name}/run page", as_read(client.get(reverse("run", args=[run.pk])).content)
        yield f"{name}/html", as_read(written(run, "html"))
        yield f"{name}/markdown", written(run, "md").decode()
        if run.experiment.workflow not in seen:
            seen.add(run.experiment.workflow)
            yield f"{name}/pdf", pdf_text(written(run, "pdf"))
    for number, experiment in enumerate(Experiment.objects.order_by("pk"), 1):
        name = f"experiment {number:02} {experiment.workflow}"
        yield f"{name}/page", as_read(client.get(reverse("experiment", args=[experiment.pk])).content)
        yield f"{name}/statistics", _json(client.get(f"/api/experiments/{experiment.pk}/statistics/").json())
        again = {"again": str(experiment.pk)}
        if experiment.workflow != "judging":
            yield f"{name}/set-up", as_read(client.get(reverse(experiment.workflow), again).content)
    yield "runs", as_read(client.get(reverse("runs")).content)
    yield "schema", client.get("/api/schema/").content.decode()


def of_run(
    name: str, run: Run, client: Client, files: Iterable[str] = FILES, lists: Iterable[str] = LISTS
) -> Iterator[tuple[str, str]]:
    """What programs read."""
    for format_ in files:
        yield f"{name}/{format_}", written(run, format_).decode()
    for rows in lists:
        answer = client.get(f"/api/runs/{run.pk}/{rows}/?page_size=200")
        yield f"{name}/api {rows}", f"{answer.status_code}\n{_json(answer.json())}"


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


def written(run: Run, format_: str, language: str = "en") -> bytes:
    fetched = Run.objects.with_totals().select_related("experiment__owner").get(pk=run.pk)
    return b"".join(FORMATS[format_].write(fetched, language, unheard))


def pdf_text(file: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(file)).pages)


def as_read(page: bytes) -> str:
    """A page's words, links, fields and buttons, a line each, whatever its markup."""
    return "\n".join(_lines(html.document_fromstring(page).find("body")))


def _lines(element: Any) -> Iterator[str]:
    if not isinstance(element.tag, str) or element.tag in INVISIBLE:
        return
    if element.tag == "a" and element.get("href"):
        yield f"-> {element.get('href')}"
    if element.tag in ("input", "select", "textarea", "button") and element.get("name") not in (
        "csrfmiddlewaretoken",
        "token",
    ):
        told = [
            f"{name}={element.get(name)}"
            for name in ("name", "type", "value", "checked", "disabled")
            if name in element.attrib
        ]
        yield f"[{element.tag} {' '.join(told)}]"
    if element.tag == "option" and "selected" in element.attrib:
        yield "[selected]"
    if label := element.get("aria-label") or element.get("alt"):
        yield f"({label})"
    yield from _words(element.text)
    for child in element:
        yield from _lines(child)
        yield from _words(child.tail)


def _words(text: str | None) -> Iterator[str]:
    if text and text.strip():
        yield " ".join(text.split())


def normalised(text: str) -> str:
    """Without what another play of the same has otherwise: ids are numbered as they come, times are left out."""
    ids: dict[str, str] = {}
    text = UUID.sub(lambda found: ids.setdefault(found[0], f"<id {len(ids) + 1}>"), text)
    return TIMES.sub(r"\1<time>", MOMENT.sub("<moment>", text))
