"""Identifiers that outsiders see: UUIDv7, so that they sort by time and cannot be guessed."""

import uuid

import uuid_utils


def new_id() -> uuid.UUID:
    return uuid.UUID(bytes=uuid_utils.uuid7().bytes)
