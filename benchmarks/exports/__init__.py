"""Bulk exports of as much text as asked: how large the processes grow that make and serve them."""
