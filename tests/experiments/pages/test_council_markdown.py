"""Markdown that models make is shown as safe HTML, with coloured code and, in reviews, names for labels."""

import re
from uuid import uuid4

from django.template.loader import render_to_string

from experiments.runs.markdown import LONGEST_COLOURED, MOST_SIGNS, TAGS, coloured, to_html
from experiments.workflows.coding.tags import MOST_COLOURED
from tests.markup import Page

NAMES = {"Response A": "Alpha", "Response B": "Beta", "Response AA": "Omega"}


def test_nothing_in_it_runs_or_loads():
    for evil in (
        *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "![x](https://evil.example/pixel.png)"),
        *("[x](javascript:alert(1))", "[x](data:text/html;base64,PHNjcmlwdD4=)", "[x](//evil.example)"),
        *('<span class="k" style="position:fixed">x</span>', '<strong class="named">Alpha</strong>'),
        *("```html\n<script>alert(1)</script>\n```", '```"><script>alert(1)</script>\ncode\n```'),
        "```python\n'''</code></pre><script>alert(1)</script>'''\n```",
        *("<iframe src=https://evil.example></iframe>", "<style>*{display:none}</style>"),
        "`<b onclick=alert(1)>`",
    ):
        elements = list(Page(to_html(evil)).root.find("body").iterdescendants())

        assert {element.tag for element in elements} <= TAGS, evil
        for element in elements:
            assert set(element.attrib) <= {"href", "rel", "class"}
            assert element.attrib.get("href", "https://").startswith(("http://", "https://"))
            assert element.attrib.get("class", "highlight") != "named"
            assert element.tag != "span" or "pre" in [parent.tag for parent in element.iterancestors()]
    assert '<a href="https://a.example" rel="noopener noreferrer nofollow">x</a>' in to_html("[x](https://a.example)")


def test_code_of_a_known_language_is_coloured_by_classes_alone_unless_it_is_very_long_or_all_signs():
    html = to_html("```python\nreturn 1  # one\n```")

    assert '<pre class="highlight"><code><span class="k">return</span>' in html
    assert '<span class="c1"># one</span>' in html
    assert "style=" not in html
    for fence in ("", "klingon", "../../etc/passwd"):
        plain = '<pre class="highlight"><code>a &lt; b\n</code></pre>\n'
        assert to_html(f"```{fence}\na < b\n```") == plain
    assert "<span" not in to_html("```python\n" + "x = 1\n" * LONGEST_COLOURED + "```")

    assert to_html("**a" * MOST_SIGNS) == f"<pre>{'**a' * MOST_SIGNS}</pre>"


def test_exact_labels_become_names_in_bold_and_what_only_looks_like_labels_and_other_peoples_words_stay():
    def names(text):
        return re.findall(r'<strong class="named">(\w+)</strong>', to_html(text, NAMES))

    assert names("Response A beats Response B.") == ["Alpha", "Beta"]
    assert names("Response AA比Response A好") == ["Omega", "Alpha"], "the longer label wins, and Chinese may follow"
    assert names("1. Response A\n\n| x |\n|---|\n| Response B |\n\n**Response A**") == ["Alpha", "Beta", "Alpha"]
    assert "<i>" not in to_html("Response A", {"Response A": "<i>evil</i>"}), "a name is no markup"

    for text in (
        *("Response Analysis and Response Bias", "Response C is not there", "XResponse A", "Response A1"),
        *("`Response A`", "```\nResponse A\n```", "    Response A", "> Response A is the best", "「Response A」"),
        *("“Response A is the best”", '"Response A is the best", it says', "[Response A](https://a.example)"),
    ):
        assert "named" not in to_html(text, NAMES)


def test_code_that_would_read_otherwise_than_it_runs_shows_why():
    trick = 'if role == "user\u202e \u2066# admin\u2069":'

    of_many = dict.fromkeys(range(MOST_COLOURED + 1), "lab/model")
    told = [{"data": {"id": uuid4(), "parsed": {"code": trick}}, "cast": cast} for cast in ({}, of_many)]
    of_contests = [render_to_string("workflows/coding/_solution.html", one) for one in told]
    for html in (coloured(trick, "python"), to_html(f"```\n{trick}\n```"), *of_contests):
        shown = Page(html).text
        assert "⟨U+202E⟩" in shown, html
        assert not {"\u202e", "\u2066", "\u2069"} & set(shown)
    assert "שלום\u200f" in to_html("שלום\u200f")
