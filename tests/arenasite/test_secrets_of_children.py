"""Programs that need no secrets get none: neither in their environment nor on their command line."""

from arenasite.supervisor.parts import Parts, without_secrets

CANARY = "sk-canary-7f3a9c55e1d24b08"
SECRETS = ("OPENROUTER_API_KEY", "ARENA_KEY_SECRETS", "ARENA_SECRET_KEY", "DATABASE_URL", "A_TOKEN", "PGPASSWORD")


def test_redis_and_the_simulated_provider_get_no_secret(tmp_path, monkeypatch):
    for name in SECRETS:
        monkeypatch.setenv(name, CANARY)
    parts = Parts(tmp_path, tmp_path, tmp_path, 1)

    for child in (parts.redis(), parts.simulated()):
        assert CANARY not in str(dict(child.environment))
        assert child.environment["PATH"]
    for child in (parts.web(1, 3), parts.worker(1), parts.reports(), parts.sandbox()):
        assert CANARY not in " ".join(map(str, child.argv))
        assert child.environment["ARENA_KEY_SECRETS"] == CANARY


def test_what_is_no_secret_stays():
    assert without_secrets({"PATH": "/bin", "LANG": "C", "KEY_OF_THE_LAB": CANARY}) == {"PATH": "/bin", "LANG": "C"}
