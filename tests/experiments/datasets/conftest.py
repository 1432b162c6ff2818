"""Datasets made of files, and the worker's side in this process."""

import threading

import pytest

from experiments.library.datasets import making, reading
from tests.making import maker


@pytest.fixture(autouse=True)
def places(settings, tmp_path, monkeypatch):
    """Pictures and uploads of this test alone; nobody is rung for."""
    settings.IMAGES_DIR, settings.UPLOADS_DIR = tmp_path / "images", tmp_path / "uploads"
    monkeypatch.setattr(reading, "wake_now", lambda: None)


@maker
def load(alice, /, path, **fields):
    """Makes a dataset of Alice's from a path."""
    return making.create(owner=alice, path=path, **{"name": "Questions", **fields})


@maker
def load_text(load, tmp_path, /, name, text, **fields):
    """The same of a text, under a file name."""
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(path, **fields)


@pytest.fixture
def work():
    """Reads every upload that waits, as the worker does."""
    return lambda: reading.read_all(threading.Event())
