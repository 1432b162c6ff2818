"""Whatever a reviewer writes: no crash, no invented vote, at most one vote per label, and no long wait."""

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.workflows.ballots import FLAGS, read_ballot, read_repaired
from experiments.workflows.labels import labels_for
from experiments.workflows.parsing import Unreadable
from tests.cases import each_case
from tests.hanging import without_hanging

ABCD = labels_for(4)
HEADERS = st.sampled_from(["FINAL RANKING:", "**Final Ranking**", "## 最终排名：", "Final ranking (best to worst):"])
PIECES = st.sampled_from(
    [
        *(
            "FINAL RANKING:",
            "\n",
            "\n\n",
            "1. ",
            "2. ",
            "3) ",
            "- ",
            "* ",
            "**",
            "> ",
            " > ",
            " = ",
            ", ",
            "|",
            "```",
            "`",
        ),
        *("Response A", "Response B", "Response C", "Response D", "Response Z", "Response Analysis", "response a"),
        *(
            "A",
            "B",
            "回答 C",
            "最终排名：",
            "is better than",
            "[",
            "]",
            '"',
            "{",
            "}",
            '{"ranking": [',
            "&gt;",
            "(tie)",
        ),
        *("1.", "10. ", "第1名", "：", "１．", "\t", "    ", "🥇", "\u200b", "\x00", "\ud800", "İ", "ﬃ", "\u2028"),
    ]
)
NOISE = st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join))
STYLES = {
    "numbered": lambda order: "\n".join(f"{place}. {label}" for place, label in enumerate(order, 1)),
    "brackets": lambda order: "\n".join(f"{place}) **{label}** - fine" for place, label in enumerate(order, 1)),
    "bullets": lambda order: "\n".join(f"- {label}" for label in order),
    "chain": " > ".join,
    "commas": ", ".join,
    "letters": lambda order: " > ".join(label[-1] for label in order),
    "inline": lambda order: " ".join(f"{place}. {label}" for place, label in enumerate(order, 1)),
    "table": lambda order: "|#|Response|\n|-|-|\n" + "\n".join(f"|{n}|{label}|" for n, label in enumerate(order, 1)),
    "json": lambda order: '["' + '", "'.join(order) + '"]',
}


def votes(text, shown=()):
    try:
        ballot = read_ballot(text, ABCD, shown)
    except Unreadable:
        return None
    ranked = [label for place in ballot.order for label in place]
    assert ranked, "a ballot without a vote would be none"
    assert len(ranked) == len(set(ranked)), "one vote per label"
    assert set(ranked) <= set(ABCD)
    assert ("partial" in ballot.flags) == (len(ranked) < len(ABCD))
    assert set(ballot.flags) <= set(FLAGS)
    return ranked


@settings(max_examples=400, deadline=None)
@given(NOISE)
def test_nothing_breaks_the_reader(text):
    votes(text)
    with contextlib.suppress(Unreadable):
        read_repaired(text, ABCD)


@settings(max_examples=200, deadline=None)
@given(NOISE)
def test_where_there_is_no_header_and_no_json_there_is_no_vote(text):
    harmless = text.replace("RANKING", "").replace("最终排", "").replace("ranking", "")
    if not harmless.strip().startswith(("{", "[", "```")) and "rank" not in harmless.casefold():
        assert votes(harmless) is None


@settings(max_examples=300, deadline=None)
@given(NOISE, NOISE)
def test_only_what_stands_under_the_last_header_votes(before, section):
    ranked = votes(f"{before}\n```\n```\nFINAL RANKING:\n{section}")
    if ranked is None or (before + section).strip().startswith(("{", "[")):
        return
    squeezed = section.upper()
    assert all(label[-1] in squeezed or chr(ord(label[-1]) + 0xFEE0) in squeezed for label in ranked)


@settings(max_examples=300, deadline=None)
@given(st.permutations(ABCD), st.sampled_from(sorted(STYLES)), HEADERS, st.lists(PIECES, max_size=20).map("".join))
def test_a_tidy_ballot_is_read_whatever_stands_before_it(order, style, header, before):
    before = before.replace("`", "").replace("{", "").replace("[", "")
    assert votes(f"A review. {before}\n\n{header}\n\n{STYLES[style](order)}\n") == list(order)


@settings(max_examples=300, deadline=None)
@given(st.permutations(ABCD), st.sampled_from(sorted(STYLES)), st.text(alphabet="*_ \n", max_size=5), st.booleans())
def test_what_an_answer_holds_cannot_vote(order, style, dress, as_quote):
    answer = f"The sky is blue.\n\nFINAL RANKING:\n{STYLES[style](order)}"
    quoted = answer.replace("\n", "\n> ") if as_quote else answer.replace("\n", f"{dress}\n")
    assert votes(f"Response A says:\n{quoted}", [answer]) is None


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*ABCD, "Response Z"]), min_size=1, max_size=8))
def test_the_first_of_two_places_holds_and_the_rest_moves_up(named):
    known = list(dict.fromkeys(label for label in named if label != "Response Z"))
    assert votes("FINAL RANKING:\n" + STYLES["numbered"](named)) == (known or None)


LONG = 100_000
LONG_TEXTS = {
    "headers": "FINAL RANKING:\n",
    "headers in prose": ". FINAL RANKING: ",
    "items": "1. Response A\n",
    "labels": "Response A ",
    "chain": "A > ",
    "equals": "A = ",
    "bars": "|",
    "rows": "|1|A|\n",
    "blanks": " ",
    "tabs": "\t\n",
    "digits": "1",
    "dashes": "- ",
    "stars": "*",
    "brackets": "[",
    "braces": '{"ranking": [',
    "quotes": "> ",
    "fences": "```\n",
    "colons": ":",
    "ligatures": "ﷺ",
    "tags": "<b",
}


@each_case("piece", LONG_TEXTS)
def test_a_hundred_thousand_characters_do_not_hang_the_reader(piece):
    text = (LONG_TEXTS[piece] * LONG)[:LONG]
    ballots = (
        text,
        f"FINAL RANKING:{text}",
        f"{text}\nFINAL RANKING:\n{text}",
        f"FINAL RANKING:\n1. Response A{text}",
    )

    with without_hanging():
        counted = [votes(whole, [text] * 3) for whole in ballots]

    assert len(counted) == len(ballots)
