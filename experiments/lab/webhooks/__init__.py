"""Webhooks: what happens is written down in the transaction that makes it true, then sent, signed, at least once."""
