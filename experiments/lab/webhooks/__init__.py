"""Telling other machines what happens here: written down with the deed, sent by a worker, signed, at least once."""
