"""A report as one HTML file: no script, nothing fetched from anywhere."""

from django.template.loader import render_to_string
from django.utils.translation import get_language_info, override

from experiments.models import Run
from experiments.runs.reports.narrative import narrate


def render_html(run: Run, language: str) -> str:
    """The report of a run fetched by `with_totals`."""
    report = narrate(run, language)
    with override(language):
        return render_to_string("reports/report.html", {"report": report, "language": _tag(language)})


def _tag(language: str) -> str:
    """As HTML names it: zh-Hans for zh-hans."""
    code: str = get_language_info(language)["code"]
    name, _hyphen, script = code.partition("-")
    return f"{name}-{script.title()}" if len(script) == 4 else code
