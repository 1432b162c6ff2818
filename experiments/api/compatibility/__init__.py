"""The routes of other systems, over our own verbs, so that the clients written for those work here.

Nothing is decided here that the verbs do not decide: a module per system reads what its client sends, calls them, and
answers in the shape that the client knows. `docs/compatibility.md` says where an answer differs, and why.
"""
