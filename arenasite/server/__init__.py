"""The web server: Daphne with bounds on what it holds, and an end that finishes what was asked. `python -m
arenasite.server`, with Daphne's own options. All that rests on internals of Daphne, Twisted, Autobahn and asyncio is in
this package; tests/arenasite/test_server_internals.py names each of them.
"""
