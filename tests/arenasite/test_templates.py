"""Templates know every tag and filter that they use, on whichever path they are drawn."""

import re
from pathlib import Path

from django import forms
from django.conf import settings
from django.forms.renderers import DjangoTemplates
from django.template.loader import get_template
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from arenasite.form_renderer import FormRenderer

FOLDER = Path(settings.BASE_DIR) / "templates"


def test_every_template_compiles():
    names = [str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.html")]
    assert len(names) > 400
    for name in names:
        get_template(name)


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
