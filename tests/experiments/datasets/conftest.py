"""Datasets made of files, and the worker's side in this process."""

import io
import json
import os
import sys
import tempfile
import threading
from functools import partial

import pytest
from django.conf import settings
from PIL import Image, ImageFile

from experiments.library.datasets import making, process, reading
from experiments.library.datasets.reader import program
from tests.fixtures import is_system
from tests.making import maker


@pytest.fixture(autouse=True)
def places(request, settings, tmp_path, monkeypatch):
    """Pictures and uploads of this test alone; nobody is rung for. Uploads are read by the program of the limited
    process, but in this one, except for system tests.
    """
    settings.IMAGES_DIR, settings.UPLOADS_DIR = tmp_path / "images", tmp_path / "uploads"
    monkeypatch.setattr(reading, "wake_now", lambda: None)
    if not is_system(request.node):
        for limit in ("die_with_parent", "leave_network", "impose"):
            monkeypatch.setattr(program, limit, lambda *_limits: None)
        for strictness in ("MAX_IMAGE_PIXELS", "LOAD_TRUNCATED_IMAGES"):
            module = Image if hasattr(Image, strictness) else ImageFile
            monkeypatch.setattr(module, strictness, getattr(module, strictness))
        monkeypatch.setattr(os, "_exit", lambda _code: None)
        monkeypatch.setattr(process, "read", partial(read_here, monkeypatch))


def read_here(monkeypatch, path, spool, *, what, heard=process.unheard, within=None, **orders):
    """As `process.read`, without the process."""
    limits = {"unpacked": settings.DATASET_UNPACKED} | orders.pop("limits", {})
    told = {"what": what, "path": str(path.absolute()), "spool": str(spool), "limits": limits, **orders}
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:
        monkeypatch.setattr(program, "PIPE", said.fileno())
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(told)))
        program.main()
        said.seek(0)
        lines = [json.loads(line) for line in said]
        for line in lines:
            heard(float(line.get("progress", 0)))
        return process._ended(lines[-1], 0, errors, spool)


@maker
def load(alice, /, path, **fields):
    return making.create(owner=alice, path=path, **{"name": "Questions", **fields})


@maker
def load_text(load, tmp_path, /, name, text, **fields):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(path, **fields)


@pytest.fixture
def work():
    return lambda: reading.read_all(threading.Event())
