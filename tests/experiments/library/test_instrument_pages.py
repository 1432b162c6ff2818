"""Instruments on their pages: written, copied and revised without loss, refused at the field, moved as files."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from experiments.library.instruments import services
from experiments.library.instruments.builtin import builtin
from experiments.models import Instrument, InstrumentVersion

CONCESSION = {
    "dimensions-0-title": "Concession",
    "dimensions-0-name": "concession",
    "dimensions-0-kind": "scale",
    "dimensions-0-description": "How far the message gives way.",
    "dimensions-0-low": "0",
    "dimensions-0-high": "4",
    "dimensions-0-step": "1",
    "dimensions-0-level": "ordinal",
    "dimensions-0-anchors": "0 = none\n4 = in everything",
}
THREAT = {
    "dimensions-1-title": "Threat",
    "dimensions-1-name": "",
    "dimensions-1-kind": "yes_no",
    "dimensions-1-needs_quotation": "on",
}


def filled(read, page, **changes):
    """What a browser sends of the editor, with these changes."""
    return {**read(page).form(id="instrument"), **changes}


@pytest.fixture
def written(browser, read):
    """Alice's instrument with a scale and a question that needs a quotation."""
    path = reverse("instrument-new")
    browser.post(path, filled(read, browser.get(path), title="Giving way", **CONCESSION, **THREAT))
    return Instrument.objects.get(title="Giving way")


def test_a_copy_of_each_built_in_one_asks_the_same(browser, read, alice):
    for version in InstrumentVersion.objects.select_related("instrument"):
        path = f"{reverse('instrument-new')}?from={version.pk}"
        response = browser.post(path, filled(read, browser.get(path)))
        copy = Instrument.objects.filter(owner=alice).latest("created")
        assert response["Location"] == reverse("instrument", args=[copy.pk])
        assert copy.newest.digest == version.digest, version.instrument.slug
    assert Instrument.objects.filter(owner=alice).count() == len(builtin())


def test_it_is_written_in_the_browser_and_a_change_is_a_version_and_the_same_again_is_none(
    browser, read, written, alice
):
    scale, threat = written.newest.parsed.dimensions
    anchors = {"0": "none", "4": "in everything"}
    assert (written.owner, written.shared, written.newest.number) == (alice, False, 1)
    assert (scale.name, scale.low, scale.high, scale.anchors) == ("concession", 0, 4, anchors)
    assert (threat.kind, threat.name, threat.needs_quotation) == ("yes_no", "threat", True)

    path = reverse("instrument-edit", args=[written.pk])
    browser.post(path, filled(read, browser.get(path)))
    assert written.versions.count() == 1
    opened_before = filled(read, browser.get(path), **{"dimensions-0-anchors": "0 = nothing at all"})
    browser.post(path, opened_before)
    page = read(browser.get(reverse("instrument-changes", args=[written.pk, 2, 1])))
    assert [mark.text.strip() for mark in page.find("ins")] == ["Anchors, one a line: 0 = nothing at all"]

    again = browser.post(path, {**opened_before, "title": "Late"})
    assert (again.status_code, written.versions.count()) == (409, 2)
    assert read(again).by_id("id_title").get("value") == "Late"


def test_complaints_stand_at_the_row_and_nothing_typed_is_lost(browser, read):
    path = reverse("instrument-new")
    wrong = {**CONCESSION, "dimensions-0-step": "0.3", "dimensions-1-kind": "categories", "dimensions-1-title": "Tone"}
    response = browser.post(path, filled(read, browser.get(path), title="", prompt="Judge it. $what", **wrong))
    page = read(response)

    assert response.status_code == 422
    assert page.by_id("id_title-error").text
    assert "2 to 10 values" in page.by_id("dimensions-0-error").text_content()
    assert page.by_id("dimensions-1-error").text_content().strip()
    assert "$dimensions" in page.by_id("id_prompt-error").text_content()
    assert page.form(id="instrument") == page.form(id="instrument") | wrong | {"prompt": "Judge it. $what"}
    assert not Instrument.objects.filter(owner__isnull=False).exists()


def test_a_file_alone_carries_it_to_somebody_else(browser, bobs, bob, alice, written):
    services.archive(written, by=alice)
    assert bobs.get(f"{reverse('instrument-new')}?from={written.newest.pk}").status_code == 404
    assert b"Giving way" not in bobs.get(f"{reverse('instruments')}?archived=1").content
    file = browser.get(reverse("instrument-file", args=[written.pk, 1]))
    assert file["Content-Disposition"] == 'attachment; filename="giving-way-v1.json"'
    bobs.post(reverse("instrument-import"), {"file": SimpleUploadedFile("x.json", file.content)})
    assert Instrument.objects.get(owner=bob).newest.digest == written.newest.digest

    for content in (b"{}", b"\xff\xfe", b"[" * 300_000):
        page = bobs.post(reverse("instrument-import"), {"file": SimpleUploadedFile("x.json", content)})
        assert page["Location"] == reverse("instruments")
    assert Instrument.objects.filter(owner=bob).count() == 1
