"""Templates know their tags and filters; translations are complete; files are as listed; all of it is compressed."""

import gettext
import gzip
import hashlib
import io
import os
import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from django import forms
from django.conf import settings
from django.core.management import CommandError, call_command
from django.forms.renderers import DjangoTemplates
from django.template import Context, Template
from django.template.loader import get_template
from django.test import Client, RequestFactory, override_settings
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy
from whitenoise.middleware import WhiteNoiseMiddleware

from arenasite import preparation
from arenasite.compression import CompressionMiddleware
from arenasite.form_renderer import FormRenderer
from arenasite.management.commands import check_translations

FOLDER = Path(settings.BASE_DIR) / "templates"


def test_every_template_compiles_and_has_no_line_of_more_than_120_characters():
    for path in FOLDER.rglob("*.html"):
        get_template(str(path.relative_to(FOLDER)))
    paths = [path for folder in (FOLDER, FOLDER.parent / "examples") for path in folder.rglob("*.html")]
    long = [
        (str(path.relative_to(FOLDER.parent)), number)
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 120
    ]
    assert len(paths) > 400
    assert long == [], "break it in a tag, between blocks, or within {% oneline %} (CONTRIBUTING.md)"


def test_what_stands_in_one_line_is_drawn_without_line_breaks_but_for_those_of_values_and_includes():
    values = {"yes": True, "no": False, "text": "1\n2", "part": Template("{{ '{' }}\n{{ '}' }}")}
    element = "{% oneline %}\n<i\n  class='{{ text }}'\n  {% if yes %}id='a'\n  {% endif %}>b</i>\n{% endoneline %}"
    translated = "{% oneline %}\n{% blocktranslate trimmed %} a\n b{% endblocktranslate %}\n{% endoneline %}"
    for written, drawn in (
        ("<b>{% oneline %}\n  {% if yes %}a\n  {% else %}b{% endif %}\n{% endoneline %}</b>.", "<b>a</b>."),
        ("{% oneline %}{% if no %}a\n  {% elif yes %}b c\n  {% endif %}, d{% endoneline %}", "b c, d"),
        (element, "<i class='1\n2' id='a' >b</i>"),
        ("{% oneline %}\n{% for one in 'ab' %}\n  {{ one }}\n{% endfor %}\n{% endoneline %}", "ab"),
        ("{% oneline %}a\n{% include part %}\n{{ text }}\n{% endoneline %}\n", "a{\n}1\n2\n"),
        ("{% load i18n %}" + translated, "a b"),
        ("{% oneline %}a > b\n< c\nd > e\n f{% endoneline %}", "a > b< c d > ef"),
    ):
        assert Template(written).render(Context(values)) == drawn, written


def test_an_element_that_fetches_no_more_still_knows_how_an_answer_under_way_is_put_into_it():
    """Else the whole page of an answer that comes after the last one would stand inside of the element."""
    openings = {
        (path.name, found[0])
        for path in FOLDER.rglob("*.html")
        for found in re.finditer(r"<\w[^<]*?hx-(?:select|swap)=", path.read_text(encoding="utf-8"))
    }
    assert len(openings) > 10
    assert {(name, text) for name, text in openings if text.count("{% if") > text.count("{% endif %}")} == set()


def test_inputs_are_drawn_as_django_draws_them():
    ours, theirs = FormRenderer(), DjangoTemplates()
    attributes = {"required": True, "hidden": False, "data-x": 'q"<', "step": 2.5, "aria-label": gettext_lazy("Limits")}
    values = (None, "", "a<b>&\"'", 3, 0, True, False, SafeString("<i>"), gettext_lazy("Limits"))
    choices = [("", "--"), ("a<", gettext_lazy("Limits")), ("G<&", [(1, SafeString("<b>")), (None, None)])]
    inputs = (forms.TextInput, forms.NumberInput, forms.CheckboxInput, forms.HiddenInput, forms.PasswordInput)
    widgets = [kind(attributes) for kind in (*inputs, forms.Textarea)] + [forms.Select(attributes, choices)]
    for widget in widgets:
        for value in values:
            drawn = widget.render("n<", value, {"id": "7"}, ours)
            assert drawn == widget.render("n<", value, {"id": "7"}, theirs), (widget, value)


PO = """
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "run"
msgstr "运行"
"""


def test_a_translation_is_compiled_and_left_alone_until_it_changes(tmp_path, settings):
    settings.LOCALE_PATHS = [tmp_path]
    po = tmp_path / "zh_Hans" / "LC_MESSAGES" / "django.po"
    po.parent.mkdir(parents=True)
    po.write_text(PO, encoding="utf-8")

    preparation.compile_translations()

    with po.with_suffix(".mo").open("rb") as file:
        assert gettext.GNUTranslations(file).gettext("run") == "运行"
    assert preparation.stale_translations() == []
    os.utime(po, (2_000_000_000, 2_000_000_000))
    assert preparation.stale_translations() == [po]


@pytest.mark.system
def test_a_complete_translation_passes_and_what_is_wrong_with_another_is_reported_with_its_place(tmp_path, settings):
    settings.BASE_DIR = tmp_path
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "page.html").write_text(
        "{% load i18n %}{% blocktranslate %}{{ n }} runs{% endblocktranslate %}"
    )
    po = tmp_path / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
    po.parent.mkdir(parents=True)
    for string, flags, wrong in (
        ("%(n)s 次运行", "python-format", None),
        ("", "python-format", "not translated: '%(n)s runs' (templates/page.html:1)"),
        ("%(n)s 次运行", "fuzzy, python-format", "unsure (fuzzy): '%(n)s runs'"),
        ("运行", "python-format", "other placeholders: '%(n)s runs'"),
    ):
        po.write_text(f'{PO}\n#, {flags}\nmsgid "%(n)s runs"\nmsgstr "{string}"\n', encoding="utf-8")
        err = io.StringIO()
        with pytest.raises(CommandError) if wrong else nullcontext():
            call_command("check_translations", stdout=io.StringIO(), stderr=err)
        assert wrong is None or wrong in err.getvalue()


def test_without_xgettext_the_check_fails_in_ci_and_is_visible_elsewhere(monkeypatch):
    monkeypatch.setattr(check_translations.shutil, "which", lambda _: None)
    monkeypatch.delenv("CI", raising=False)
    err = io.StringIO()

    call_command("check_translations", stderr=err)

    assert "NOT checked: install gettext" in err.getvalue()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(CommandError, match="install gettext"):
        call_command("check_translations")


def test_each_file_has_the_digest_of_the_release_that_is_named_and_no_style_sheet_asks_how_a_window_is_turned():
    """For such a rule alone axe-core fetches style sheets anew on every page."""
    vendored = settings.BASE_DIR / "static" / "vendor"
    listing = (vendored / "README.md").read_text()
    listed = dict(re.findall(r"^\| `(\S+)` .* `([0-9a-f]{64})` \|$", listing, re.MULTILINE))
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in vendored.glob("*.js")} == listed
    sheets = {path.name: path.read_text() for path in vendored.parent.glob("*.css")}
    assert "site.css" in sheets
    assert [name for name, text in sheets.items() if "orientation" in text] == []


STYLES = "/static/site.css"
COMPRESSING = {"Accept-Encoding": "gzip, br"}


@override_settings(WHITENOISE_USE_FINDERS=True, WHITENOISE_AUTOREFRESH=True)
def test_styles_are_compressed_once_and_not_sent_again_to_a_browser_that_has_them(monkeypatch):
    files = CompressionMiddleware(WhiteNoiseMiddleware(lambda _request: None))

    def ask(**headers):
        answer = files(RequestFactory().get(STYLES, headers=headers))
        return answer, b"".join(answer)

    whole = (Path(settings.BASE_DIR) / STYLES.removeprefix("/")).read_bytes()
    first, sent = ask(**COMPRESSING)
    again, nothing = ask(**COMPRESSING, **{"If-None-Match": first["ETag"]})
    part, begun = ask(**COMPRESSING, Range="bytes=0-9")

    assert (first["Content-Encoding"], first["Vary"], gzip.decompress(sent)) == ("gzip", "Accept-Encoding", whole)
    assert (again.status_code, nothing) == (304, b"")
    assert (part.status_code, part.has_header("Content-Encoding"), begun) == (206, False, whole[:10])
    assert ask()[1] == whole
    monkeypatch.delattr("arenasite.compression.compress_string")
    same, sent_again = ask(**COMPRESSING)
    assert (sent_again, same.headers) == (sent, first.headers)
    assert len(sent) == int(same["Content-Length"]), "in one piece"


def test_a_page_is_compressed_and_data_is_not(alice):
    browser = Client(headers=COMPRESSING)
    browser.force_login(alice)

    assert b"<!doctype html>" in gzip.decompress(browser.get("/runs/").content)
    assert not browser.get("/api/").has_header("Content-Encoding")
