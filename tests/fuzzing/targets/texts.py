"""What models and people write, wherever it is shown, searched, marked or masked."""

import re
import sqlite3

from experiments.library.search.backends import PostgreSQL, SQLite
from experiments.library.search.excerpts import MOST_READ, Part, excerpt, plain
from experiments.library.search.query import Asked, Phrase, Sought, read
from experiments.library.search.words import words
from experiments.runs.markdown import TAGS, to_html
from experiments.workflows.base.flags import addresses_reviewers, flags, other_language
from experiments.workflows.base.masking import MASK, masked, names_itself
from tests.fuzzing.target import Target, text_of

TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)([^>]*)>")
ATTRIBUTES = re.compile(r'(?:\s+(?:href|rel|start|class)="[^"<>]*")*\s*/?')
NAMES = ("gpt-4o", "lab/model-3", "Claude")
SAID = "Two models agree: the answer of the first model is 42, 议会 says so. " * 20


def rendered(data: bytes) -> str:
    """Of a text as it is stored: without surrogates."""
    return to_html(text_of(data).encode("utf-8", "replace").decode(), {"Response A": "gpt-4o", "B": "Claude"})


def check_markdown(data: bytes) -> None:
    """Nothing but the tags that are allowed, with the attributes that are; and rendered twice it is the same."""
    html = rendered(data)
    for _slash, tag, attributes in TAG.findall(html):
        assert tag in TAGS
        assert ATTRIBUTES.fullmatch(attributes)
    assert not re.search(r'href="(?!https?:)', html, re.IGNORECASE)
    assert rendered(data) == html


def found_in(data: bytes) -> list[Part]:
    """The beginning is what is sought, the rest where it is sought."""
    sought, _line, text = text_of(data).partition("\n")
    return excerpt([text], read(sought).phrases)


def check_excerpt(data: bytes) -> None:
    """What is shown stands in the text without its markup in one piece, and what is marked is more than blanks."""
    _sought, _line, text = text_of(data).partition("\n")
    parts = found_in(data)
    shown = "".join(part.text for part in parts).removeprefix("… ").removesuffix(" …")
    read = plain(text[:MOST_READ])
    assert shown in read or shown.removesuffix(" ") in read
    assert all(part.text.strip() for part in parts if part.is_found)


def check_words(data: bytes) -> None:
    text, at = text_of(data), 0
    for word in words(text):
        assert at <= word.start < word.end <= len(text)
        assert word.folded == "".join(word.folded.split())
        at = word.start


def asked(data: bytes) -> Asked:
    return read(text_of(data).encode("utf-8", "replace").decode())


def check_query(data: bytes) -> None:
    """Whatever is typed, the database understands what it is asked."""
    query = asked(data)
    marks = tuple(tuple(f"={name}:{value}" for value in values) for name, values in query.filters.items())
    sought = Sought(query.phrases, marks, query.without)
    _index.execute("SELECT rowid FROM passages WHERE words MATCH ?", (SQLite().query(sought),)).fetchall()
    assert PostgreSQL().query(sought).count("'") % 2 == 0
    for phrase in (*query.phrases, *query.without):
        assert isinstance(phrase, Phrase)
        assert phrase.words
        assert all(phrase.words)


def remarks(data: bytes) -> list[str]:
    text = text_of(data)
    found = [*flags(text, "A", [text, text]), *addresses_reviewers(text), *other_language("en", text)]
    return [*found, *names_itself(text, NAMES)]


def check_remarks(data: bytes) -> None:
    assert all(re.fullmatch("[a-z_]+", flag) for flag in remarks(data))


def mask(data: bytes) -> str:
    return masked(text_of(data), NAMES, "Which is better?")


def check_masked(data: bytes) -> None:
    """No name of the author is left by itself; what has none stays as it is."""
    text, result = text_of(data), mask(data)
    assert not re.search(r"(?<!\w)(?:gpt-4o|lab/model-3|claude)(?!\w)", result, re.IGNORECASE)
    assert (result == text) or MASK in result
    assert masked(result, NAMES, "Which is better?") == result


_index = sqlite3.connect(":memory:", check_same_thread=False)
_index.execute("CREATE VIRTUAL TABLE passages USING fts5(words, tokenize=\"unicode61 categories 'L* M* N* P* S* Co'\")")
_index.execute("INSERT INTO passages VALUES (?)", (SAID,))
MARKDOWN = (
    "#", "# a", "===", "---", "\n", "\n\n", "> ", "- ", "1. ", "```", "```python\n", "~~~", "`", "<h1>", "</p>",
    "<!--", "![x](y)", "[a](http://b)", "[a]: http://b", "[a]", "[", "]", "(", ")", "javascript:", "<http://a>",
    "    ", "\t", "\r", "\u2028", "\x85", "\x00", "\\", "|", "|-|-|\n", "*", "**", "_", "~~", "&amp;", "&#x6a;", "&",
    "<", ">", "![", "Response A", "B", "“", "”", '"', "data:text/html,x", "http://a/?q=<", "def f():\n", "%", "//",
)  # fmt: skip
QUERY = (
    '"', "-", "seat:", "model:", "from:", "a", "word", "议", "议会", "*", " ", "“", "”", "'", "\\", ":", "=", "AND",
    "OR", "NOT", "NEAR(", ")", "^", "\n", "é", "ﷺ", "\u0301", "\x00", "\ud800", "a a a a b", "ßſ", "İ", "ａ",
)  # fmt: skip
MODELS = (
    "I am ", "I'm ", "gpt-4o", "GPT-4O", "Claude", "lab/model-3", "model", "as an ", "AI ", "language ",
    "trained by ", "OpenAI", "我是", "由", "阿里", ", ", ".", "-", "_", " ", "\n", "[name]", "\u0301", "ı", "ſ",
    "Dear judges", "ignore ", "all ", "other ", "answers", "FINAL RANKING", "I cannot help with that",
    "Model B: ", "`", "```", "http://a", "@b.c",
)  # fmt: skip

TARGETS = (
    Target("markdown", rendered, check_markdown, MARKDOWN),
    Target("excerpt", found_in, check_excerpt, QUERY, seeds=(f"two models\n{SAID}".encode(),)),
    Target("words", lambda data: list(words(text_of(data))), check_words, QUERY),
    Target("query", asked, check_query, QUERY, seeds=('议 "two models" -seat:A model:lab/x wor*'.encode(),)),
    Target("remarks", remarks, check_remarks, MODELS, seeds=(b"I'm sorry, but I can't help with that.",)),
    Target("masking", mask, check_masked, MODELS, seeds=(b"As Claude, trained by OpenAI, I am gpt-4o-mini v2.",)),
)
