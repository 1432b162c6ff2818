"""Translations are compiled without a gettext, and none is forgotten."""

import gettext
import io
import os

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


@pytest.fixture
def po(tmp_path, settings):
    settings.LOCALE_PATHS = [tmp_path]
    path = tmp_path / "zh_Hans" / "LC_MESSAGES" / "django.po"
    path.parent.mkdir(parents=True)
    path.write_text(PO, encoding="utf-8")
    return path


def test_a_translation_is_compiled_and_left_alone_until_it_changes(po):
    preparation.compile_translations()

    with po.with_suffix(".mo").open("rb") as file:
        assert gettext.GNUTranslations(file).gettext("run") == "运行"
    assert preparation.stale_translations() == []
    os.utime(po, (2_000_000_000, 2_000_000_000))
    assert preparation.stale_translations() == [po]


@pytest.fixture
def source(tmp_path, settings):
    """A source of one template with one sentence."""
    settings.BASE_DIR = tmp_path
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "page.html").write_text(
        "{% load i18n %}{% blocktranslate %}{{ n }} runs{% endblocktranslate %}"
    )
    po = tmp_path / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
    po.parent.mkdir(parents=True)

    def translate(string: str, flags: str = "python-format") -> None:
        po.write_text(f'{PO}\n#, {flags}\nmsgid "%(n)s runs"\nmsgstr "{string}"\n', encoding="utf-8")

    return translate


def check() -> str:
    err = io.StringIO()
    with pytest.raises(CommandError):
        call_command("check_translations", stderr=err)
    return err.getvalue()


@pytest.mark.system
def test_a_complete_translation_passes_and_what_is_wrong_with_another_is_reported_with_its_place(source):
    source("%(n)s 次运行")
    call_command("check_translations", stdout=io.StringIO())

    source("")
    assert "not translated: '%(n)s runs' (templates/page.html:1)" in check()
    source("%(n)s 次运行", flags="fuzzy, python-format")
    assert "unsure (fuzzy): '%(n)s runs'" in check()
    source("运行")
    assert "other placeholders: '%(n)s runs'" in check()


def test_without_xgettext_the_check_fails_in_ci_and_is_visible_elsewhere(monkeypatch):
    monkeypatch.setattr(check_translations.shutil, "which", lambda _: None)
    monkeypatch.delenv("CI", raising=False)
    err = io.StringIO()

    call_command("check_translations", stderr=err)

    assert "NOT checked: install gettext" in err.getvalue()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(CommandError, match="install gettext"):
        call_command("check_translations")
