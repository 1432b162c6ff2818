"""Real parts for every test: a Redis server, the simulated provider over HTTP, SQLite or PostgreSQL."""

pytest_plugins = ["tests.fixtures"]
