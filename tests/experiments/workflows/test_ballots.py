"""A ballot is what stands under the last header, in whatever form, and nothing else is."""

import pytest

from experiments.workflows.ballots import read_ballot
from experiments.workflows.labels import labels_for
from tests.cases import each_case
from tests.experiments.workflows.ballots import REVIEW, read, under_header, unread


def test_labels_go_on_after_z():
    assert [labels_for(30)[number] for number in (0, 25, 26, 29)] == [
        "Response A",
        "Response Z",
        "Response AA",
        "Response AD",
    ]


# --- the header ---


@each_case(
    "header",
    [
        "FINAL RANKING:",
        "FINAL RANKING",
        "**FINAL RANKING:**",
        "**FINAL RANKING**:",
        "## Final Ranking",
        "### **Final ranking:**",
        "## 3. Final Ranking ##",
        "Final Ranking (best to worst):",
        "**Final Ranking** (from best to worst)",
        "FINAL RANKING：",
        "ＦＩＮＡＬ　ＲＡＮＫＩＮＧ：",
        "Here is my final ranking:",
        "--- FINAL RANKING ---",
        "__Final Rankings__:",
        "最终排名",
        "最终排名：",
        "## **最终排序：**",
        "2. Final ranking:",
        "FINAL\u200b RANKING:",
    ],
)
def test_a_header_is_known_in_every_dress(header):
    assert read(f"{REVIEW}{header}\n\n1. Response C\n2. Response A\n3. Response B") == (["C", "A", "B"], [])


def test_of_two_headers_the_last_one_counts():
    text = "FINAL RANKING:\n1. Response A\n2. Response B\n3. Response C\n\nNo, on reflection:\n\n"
    assert read(f"{text}FINAL RANKING:\n1. Response C\n2. Response A\n3. Response B") == (["C", "A", "B"], [])
    assert read(f"I shall end with a FINAL RANKING: as asked.\n{text}") == (["A", "B", "C"], [])


def test_a_header_at_the_end_of_the_text_may_follow_a_sentence():
    assert read("A is good. C is better. FINAL RANKING: 1. Response C 2. Response A 3. Response B") == (
        ["C", "A", "B"],
        [],
    )


def test_a_header_with_nothing_below_it_is_no_ballot():
    assert "no list" in unread(f"{REVIEW}FINAL RANKING:")
    assert "no list" in unread("FINAL RANKING:\n1. Response A\n2. Response B\n\nFINAL RANKING:\nas above")


@each_case(
    "text",
    ["", " ", REVIEW, "1. Response C\n2. Response A\n3. Response B", "Ranking: C > A > B", "My final ranking is open."],
)
def test_without_a_header_nothing_is_guessed(text):
    assert "FINAL RANKING" in unread(text)


# --- the list ---


@each_case(
    "section",
    [
        "1. Response C\n2. Response A\n3. Response B",
        "1. **Response C**\n2. **Response A**\n3. **Response B**",
        "**1. Response C**\n**2. Response A**\n**3. Response B**",
        "1) Response C\n2) Response A\n3) Response B",
        "(1) Response C\n(2) Response A\n(3) Response B",
        "1. Response C - best\n2. Response A – fine, unlike Response B\n3. Response B (worse than Response C)",
        "1. Response C: it says most, more than Response A.\n2. Response A: clear.\n3. Response B: vague.",
        "1. Response C is the best\n2. Response A comes next\n3. Response B is last",
        "1. A1\n".replace("A1", "C") + "2. A\n3. B",
        "1. c\n2. a\n3. b",
        "1. response c\n2. RESPONSE A\n3. Response B",
        "1. `Response C`\n2. `Response A`\n3. `Response B`",
        "1. Response_C\n2. Response-A\n3. Response  B",
        "1: Response C\n2: Response A\n3: Response B",
        "1 Response C\n2 Response A\n3 Response B",
        "1、回答 C\n2、回答 A\n3、回答 B",
        "１．回答Ｃ\n２．回答Ａ\n３．回答Ｂ",
        "第1名：回答C\n第2名：回答A\n第3名：回答B",
        "1st: Response C\n2nd: Response A\n3rd: Response B",
        "1st place - Response C\n2nd place - Response A\n3rd place - Response B",
        "Rank 1: Response C\nRank 2: Response A\nRank 3: Response B",
        "#1 Response C\n#2 Response A\n#3 Response B",
        "- 1. Response C\n- 2. Response A\n- 3. Response B",
        "- Response C\n- Response A\n- Response B",
        "* Response C\n* **Response A**\n* Response B",
        "• Response C (best)\n• Response A\n• Response B",
        "Response C\nResponse A\nResponse B",
        "C\nA\nB",
        "From best to worst:\n\n1. Response C\n\n2. Response A\n\n3. Response B",
        "1. Response C\n   - better than Response A\n   - Response B is no match\n2. Response A\n3. Response B",
        "1. Response C\n\n   Clear.\n\n2. Response A\n\n   Response B is worse.\n\n3. Response B",
        "Response C > Response A > Response B",
        "C > A > B",
        "1. C > A > B",
        "**C** ＞ **A** ＞ **B**.",
        "C -> A → B",
        "Response C, Response A, Response B",
        "C, A, B (best first)",
        "1. Response C 2. Response A 3. Response B",
        "1. C, 2. A, 3. B",
        '["Response C", "Response A", "Response B"]',
        '```json\n["Response C", "Response A", "Response B"]\n```',
        '{"ranking": ["C", "A", "B"]}',
        "```\n1. Response C\n2. Response A\n3. Response B\n```",
        "| Rank | Response |\n|---|---|\n| 1 | Response C |\n| 2 | Response A |\n| 3 | Response B |",
        "| Response | Note | Rank |\n|---|---|---|\n| A | fine | 2 |\n| B | vague | 3 |\n| C | says most | 1 |",
        "| 名次 | 回答 |\n|:-:|:-:|\n| 1 | **回答 C** |\n| 2 | **回答 A** |\n| 3 | **回答 B** |",
        "| 1. | Response C | best |\n| 2. | Response A | |\n| 3. | Response B | |",
        "🥇 Response C\n🥈 Response A\n🥉 Response B",
        "1️⃣ Response C\n2️⃣ Response A\n3️⃣ Response B",
        "> 1. Response C\n> 2. Response A\n> 3. Response B",
        "<b>1. Response C</b>\n<b>2. Response A</b>\n<b>3. Response B</b>",
    ],
)
def test_a_list_is_read_in_every_form(section):
    assert under_header(section) == (["C", "A", "B"], [])


def test_a_list_may_begin_on_the_line_of_its_header():
    assert read(f"{REVIEW}FINAL RANKING: C > A > B") == (["C", "A", "B"], [])
    assert read(f"{REVIEW}**FINAL RANKING:** 1. Response C\n2. Response A\n3. Response B") == (["C", "A", "B"], [])


@each_case(
    ("section", "order"),
    [
        ("1. A = B\n2. C", ["A=B", "C"]),
        ("1. Response A = Response B\n2. Response C", ["A=B", "C"]),
        ("1. Response A and Response B (tie)\n2. Response C", ["A=B", "C"]),
        ("1. Response A, Response B\n2. Response C", ["A=B", "C"]),
        ("1. Response A\n1. Response B\n2. Response C", ["A=B", "C"]),
        ("1. Response C\n2. Response A (tie)\n2. Response B (tie)", ["C", "A=B"]),
        ("1. Response A\n1. Response B\n3. Response C", ["A=B", "C"]),
        ("1-2. Response A, Response B\n3. Response C", ["A=B", "C"]),
        ("A = B > C", ["A=B", "C"]),
        ("回答A、回答B > 回答C", ["A=B", "C"]),
        ("1. A = B = C", ["A=B=C"]),
        ("| Rank | Response |\n|---|---|\n| 1 | A |\n| 1 | B |\n| 3 | C |", ["A=B", "C"]),
        ('[["Response A", "Response B"], "Response C"]', ["A=B", "C"]),
        ('["Response A = Response B", "Response C"]', ["A=B", "C"]),
    ],
)
def test_equals_share_a_place(section, order):
    assert under_header(section) == (order, ["ties"])


@each_case(
    "section",
    [
        "1. Response A\n1. Response B\n1. Response C",  # all equal, or numbered by an editor?
        "3. Response B\n2. Response A\n1. Response C",
        "1. Response A, Response B, Response C",  # equals, or an order?
        "1. Response A and Response B are both good\n2. Response C",
        "Response A is better than Response B, and Response C is best.",
        "Response A: clear.\nResponse B: vague.\nResponse C: says most.",  # what is said about each, in the order shown
        "| Response | Clarity |\n|---|---|\n| A | 3 |\n| B | 1 |\n| C | 2 |",
        "I would rather not rank them.",
        "1. the second one\n2. the first one",
        '{"ranking": "none"}',
        '["Response A", ',
        "[",
        "{" * 1000,
    ],
)
def test_an_uncertain_order_is_no_ballot(section):
    assert unread(f"{REVIEW}FINAL RANKING:\n{section}")


# --- labels ---


@pytest.mark.parametrize("section", ["1. Response B\n2. Response B\n3. Response A\n4. Response C", "B > B > A > C"])
def test_of_a_label_named_twice_the_first_place_counts(section):
    assert under_header(section) == (["B", "A", "C"], ["duplicate"])


@each_case("section", ["1. Response C\n2. Response B", "C > B", '["C", "B"]'])
def test_a_missing_label_leaves_a_partial_ballot(section):
    assert under_header(section) == (["C", "B"], ["partial"])


@pytest.mark.parametrize("section", ["1. Response Z\n2. Response A\n3. Response B\n4. Response C", "Z > A > B > C"])
def test_an_unknown_label_leaves_no_gap(section):
    assert under_header(section) == (["A", "B", "C"], ["unknown_label"])


def test_flags_come_together():
    assert under_header("1. Response Z\n2. Response A\n3. Response A") == (
        ["A"],
        ["partial", "duplicate", "unknown_label"],
    )


def test_only_unknown_labels_are_no_ballot():
    assert "none of the answers" in unread("FINAL RANKING:\n1. Response X\n2. Response Y")


@each_case(
    "section",
    [
        "1. Response Analysis\n2. Response Bias",
        "Response Analysis\nResponse Bias\nResponse Clarity",
        "1. Response A's clarity\n2. Response B's length",
        "1. Responses A\n2. Answering B",
        "1. A good answer\n2. Because it is short",
    ],
)
def test_words_that_begin_like_a_label_never_count(section):
    assert unread(f"## Response Analysis\nFINAL RANKING:\n{section}")


def test_headings_of_an_assessment_change_nothing():
    text = "## Response Analysis\n1. Response Bias: none.\n\n## Response A\nGood.\n\n## Response B\nBad.\n\n"
    assert read(f"{text}FINAL RANKING:\n1. Response C\n2. Response A\n3. Response B\n\n## Response Analysis") == (
        ["C", "A", "B"],
        [],
    )


def test_a_note_behind_the_list_adds_no_vote():
    listed = "1. Response C\n2. Response A\n\n"
    assert under_header(f"{listed}Note: Response B was close.") == (["C", "A"], ["partial"])
    assert under_header(f"{listed}Reasons:\n1. Response B rambles.") == (["C", "A"], ["partial"])
    assert under_header("- Response C\n- Response A\n\nResponse B is not ranked.") == (["C", "A"], ["partial"])


def test_thirty_answers_are_ranked():
    labels = labels_for(30)
    section = "\n".join(f"{place}. {label}" for place, label in enumerate(reversed(labels), 1))
    ballot = read_ballot(f"FINAL RANKING:\n{section}", labels)

    assert [label for [label] in ballot.order] == labels[::-1]
    assert ballot.flags == ()
