"""Translations are compiled without a gettext, and none is forgotten."""

import gettext
import io
import os
from contextlib import nullcontext

import pytest
from django.core.management import CommandError, call_command

from arenasite import preparation
from arenasite.management.commands import check_translations

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
