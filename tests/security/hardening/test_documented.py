"""What the documents say of limits and times is what is set; what has to be documented is."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from accounts.tokens import MOST_DAYS

ROOT = Path(__file__).parents[3]
DETAIL = (ROOT / "docs" / "security.md").read_text()
SHORT = (ROOT / "SECURITY.md").read_text()
SETTINGS = (ROOT / "arenasite" / "settings.py").read_text()


def default_of(variable):
    return int(re.search(rf'"{variable}", (\d+)', SETTINGS)[1])


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        (r"without use \| (\d+) hours", lambda: settings.SESSION_COOKIE_AGE // 3600),
        (r"in any case after \| (\d+) days", lambda: settings.SESSION_LONGEST // 86_400),
        (r"`ARENA_API_PER_PERSON`, (\d+) a minute", lambda: default_of("ARENA_API_PER_PERSON")),
        (r"`ARENA_API_PER_ADDRESS`, (\d+)\)", lambda: default_of("ARENA_API_PER_ADDRESS")),
        (r"for 1 to (\d+) days", lambda: MOST_DAYS),
        (r"an upload \| (\d+) MB", lambda: settings.UPLOAD_BYTES >> 20),
        (r"a request \| (\d+) MB", lambda: settings.DATA_UPLOAD_MAX_MEMORY_SIZE >> 20),
        (r"an archive \| (\d+) GB", lambda: settings.DATASET_UNPACKED >> 30),
        (r"reading an upload \| (\d+) MB", lambda: settings.DATASET_MEMORY >> 20),
        (r"votes of a person in a day \| (\d+)", lambda: settings.VOTES_PER_DAY),
    ],
)
def test_a_figure_is_the_one_that_is_set(sentence, value):
    assert int(re.search(sentence, DETAIL)[1]) == value()


def test_limits_of_guessing_are_those_of_the_door():
    limits = settings.ACCOUNT_RATE_LIMITS

    assert limits["login_failed"] == "20/m/ip,5/5m/key"
    assert "five wrong passwords in five minutes, an address twenty in a minute" in DETAIL
    assert limits["login"] == "30/m/ip"
    assert "thirty sign-ins of any kind" in DETAIL
    assert settings.ACCOUNT_REAUTHENTICATION_TIMEOUT == 300
    assert "given in the last five minutes" in DETAIL


@pytest.mark.parametrize(
    "section",
    [
        *("Ways in", "Guessing", "Passwords", "Sign-ins under way", "What is kept, and how"),
        *("Keys and what they are for", "Who is talked to", "Who may what", "Limits", "Logs"),
    ],
)
def test_the_detail_has_each_section(section):
    assert re.search(rf"^##+ {section}$", DETAIL, re.MULTILINE)


@pytest.mark.parametrize(
    "section", ["Reporting", "Who may attack what", "Not covered", "Secrets", "Before others come in"]
)
def test_the_short_form_has_each_section(section):
    assert f"\n## {section}\n" in SHORT


def test_updates_and_corrections_have_times_in_days():
    assert re.findall(r"weakness that reaches us \| (\d+) days", SHORT) == ["2"]
    assert len(re.findall(r"^\| corrected: .* \| \d+ days \|$", SHORT, re.MULTILINE)) == 3


def test_every_key_that_is_set_by_the_environment_is_in_the_inventory():
    source = (ROOT / "arenasite" / "environment.py").read_text()
    named = set(re.findall(r"\"(ARENA_\w*(?:SECRET|KEY)\w*)\"", source))
    told = DETAIL + (ROOT / "docs" / "people.md").read_text()

    assert named
    assert named - set(re.findall(r"ARENA_\w+", told)) == set()
