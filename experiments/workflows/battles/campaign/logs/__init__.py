"""Logs of battles: given away in the shapes that earlier arenas read, and taken over from them."""
