"""A message in an editor, from which a new run goes on; and the words of a message for the clipboard."""

import pytest
from django.urls import reverse

from experiments.models import Message, Run
from tests.markup import value_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(played):
    return played(max_turns=1)


@pytest.fixture
def message(run):
    message = run.messages.get(seat="A")
    Message.objects.filter(pk=message.pk).update(raw_text="First.\r\nSecond.\n\n<b>Third</b>", text="First.")
    message.refresh_from_db()
    return message


def test_unchanged_it_continues_with_the_message_as_it_stands(browser, read, message):
    links = {a.get("href") for a in read(browser.get(reverse("run", args=[message.run_id]))).find("a")}
    address = reverse("message-branch", args=[message.pk])
    assert address in links
    typed = message.raw_text.replace("\r\n", "\n")
    assert value_of(read(browser.get(address)).by_id("branch-text")) == typed
    response = browser.post(address, {"text": typed.replace("\n", "\r\n")})

    child = Run.objects.get(parent=message.run)
    assert response["Location"] == reverse("run", args=[child.pk])
    copy = child.messages.get(seat="A")
    assert (copy.raw_text, copy.operator) == (message.raw_text, None)


def test_changed_it_continues_with_what_was_typed_and_says_so(browser, read, message):
    browser.post(reverse("message-branch", args=[message.pk]), {"text": "First.\r\nSecond.\r\n\r\nFourth."})

    child = Run.objects.get(parent=message.run)
    copy = child.messages.get(seat="A")
    assert copy.raw_text == "First.\r\nSecond.\n\nFourth."
    shown = read(browser.get(reverse("run", args=[child.pk]))).by_id(f"message-{copy.pk}")
    assert "edited by alice" in shown.text
    assert "What it said before it was edited" in shown.text
    assert "<b>" in shown.text
    assert Run.objects.get(pk=message.run_id).messages.get(seat="A").raw_text == message.raw_text


def test_nothing_is_no_message_and_what_was_typed_is_kept(browser, read, message):
    response = browser.post(reverse("message-branch", args=[message.pk]), {"text": "  "})

    assert response.status_code == 422
    assert read(response).by_id("branch-text").get("aria-invalid") == "true"
    assert Run.objects.count() == 1


def test_its_words_are_given_as_they_are(browser, message):
    address = reverse("message-text", args=[message.pk])

    assert browser.get(address).content.decode() == message.raw_text
    assert browser.get(address, {"heard": "1"}).content.decode() == "First."
    assert browser.get(address)["Content-Type"].startswith("text/plain")
