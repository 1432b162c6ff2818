"""The picker within a set-up form: a labelled choice, a text, and what a browser without scripts sends."""

import json

import pytest
from django.template.loader import render_to_string

from experiments.library.shelf import presets_for
from tests.markup import Page

pytestmark = pytest.mark.django_db


@pytest.fixture
def picker(alice, shy):
    def render(preset="assistant", context=None, **more):
        presets = presets_for(alice)
        text = next((p.context for p in presets if p.id == preset), "") if context is None else context
        fields = {"presets": presets, "preset": preset, "context": text, **more}
        return Page(f"<form id=f>{render_to_string('library/_preset_picker.html', fields)}</form>")

    return render


def test_it_offers_every_preset_and_custom(picker):
    values = [option.get("value") for option in picker().find("option")]

    assert len(values) == 13
    assert values[0] == "assistant"
    assert values[-1] == "custom"


def test_its_controls_have_labels(picker):
    page = picker()

    assert {label.get("for") for label in page.find("label")} >= {"id_preset", "id_context"}


def test_without_scripts_it_sends_what_is_in_it(picker):
    assert picker("minimal").form(id="f")["preset"] == "minimal"
    assert picker("minimal").form(id="f")["context"].startswith("Answer in as few words")
    assert picker("custom", "Mine.").form(id="f") == {"preset": "custom", "context": "Mine."}
    assert picker("blank").form(id="f") == {"preset": "blank", "context": ""}


def test_a_changed_text_comes_back_as_custom(picker):
    assert picker("minimal", "Changed.").form(id="f")["preset"] == "custom"


def test_a_preset_that_is_gone_comes_back_as_custom(picker):
    assert picker("no-such", "Its text.").form(id="f") == {"preset": "custom", "context": "Its text."}


def test_markup_in_a_text_stays_text(alice, picker):
    hostile = "</textarea></script><script>alert(1)</script>"
    page = picker("custom", hostile)

    assert page.form(id="f")["context"] == hostile
    assert len(page.find("script")) == 1
    assert set(json.loads(page.by_id("preset-texts").text)) == {p.id for p in presets_for(alice)}


def test_complaints_are_tied_to_the_text(picker):
    page = picker("custom", "x", context_errors=["Too long."])

    assert "id_context-error" in (page.by_id("id_context").get("aria-describedby") or "")
    assert page.by_id("id_context-error").text == "Too long."
