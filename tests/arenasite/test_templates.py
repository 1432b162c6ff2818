"""Templates know every tag and filter that they use, on whichever path they are drawn."""

import re
from pathlib import Path

from django import forms
from django.conf import settings
from django.forms.renderers import DjangoTemplates
from django.template import Context, Template
from django.template.loader import get_template
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from arenasite.form_renderer import FormRenderer
from tests.cases import each_case

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


@each_case(
    ("written", "drawn"),
    [
        ("<b>{% oneline %}\n  {% if yes %}a\n  {% else %}b{% endif %}\n{% endoneline %}</b>.", "<b>a</b>."),
        ("{% oneline %}{% if no %}a\n  {% elif yes %}b c\n  {% endif %}, d{% endoneline %}", "b c, d"),
        (
            "{% oneline %}\n<i\n  class='{{ text }}'\n  {% if yes %}id='a'\n  {% endif %}>b</i>\n{% endoneline %}",
            "<i class='1\n2' id='a' >b</i>",
        ),
        ("{% oneline %}\n{% for one in 'ab' %}\n  {{ one }}\n{% endfor %}\n{% endoneline %}", "ab"),
        ("{% oneline %}a\n{% include part %}\n{{ text }}\n{% endoneline %}\n", "a{\n}1\n2\n"),
        (
            "{% load i18n %}{% oneline %}\n{% blocktranslate trimmed %} a\n b{% endblocktranslate %}\n{% endoneline %}",
            "a b",
        ),
        ("{% oneline %}a > b\n< c\nd > e\n f{% endoneline %}", "a > b< c d > ef"),
    ],
)
def test_what_stands_in_one_line_is_drawn_without_line_breaks_but_for_those_of_values_and_includes(written, drawn):
    values = {"yes": True, "no": False, "text": "1\n2", "part": Template("{{ '{' }}\n{{ '}' }}")}
    assert Template(written).render(Context(values)) == drawn


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
