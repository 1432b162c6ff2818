"""The command `arena`, as somebody types it, with the application in this process behind it."""

import json
import re

import httpx

from arena_lab.cli.words import plain
from tests.client.conftest import IN_PROCESS
from tests.experiments.contesting import sandbox_as_played
from tests.fixtures import add_model

SET = ("--set", "gap_seconds=0", "--set", "judge=false", "--set", "filter=false")
ARENA = ("run", "arena", "--prompt", "Share.", *SET)
PAIR = ("--model", "sim/cooperative", "--model", "B=sim/competitive")
THREE = ("--model", "sim/neutral", "--model", "sim/sceptical", "--model", "sim/competitive")
DEBATE = ("--prompt", "Why?", "--set", "mode=automatic", "--set", "refine=false", "--model", "summarizer=sim/neutral")
COUNCIL = ("--prompt", "Why is the sky blue?", "--set", "title=false", "--model", "chair=sim/neutral")


def test_a_run_is_started_and_left_alone_then_watched_read_and_taken_home(typed, tmp_path):
    [started] = json.loads(typed(*ARENA, *PAIR, "--turns", "1", "--json").stdout)

    events = [json.loads(line) for line in typed("watch", started["id"], "--json").stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "experiment_stopped"
    shown = typed("show", "last", "--messages").stdout
    assert started["id"] in shown
    assert "Share." not in re.sub(r"Title.*\n", "", shown)

    assert "all " in typed("usage", "--by", "role").stdout
    assert json.loads(typed("usage", "--json").stdout)["total"]["calls"] > 0
    path = typed("report", started["id"], "--format", "md", "-o", str(tmp_path)).stdout.strip()
    assert "Share." in (tmp_path / path).read_text(encoding="utf-8")
    assert started["id"] in typed("export", started["id"], "--format", "csv", "-o", "-").stdout


def test_a_run_that_waits_is_left_answered_and_seen_to_its_end(typed, arena):
    done = typed(*ARENA, *PAIR, "--turns", "2", "--set", "mode=manual", "--watch", "--until-pause")
    assert done.returncode == 7, done.stderr
    run = arena.runs.list().first()
    assert f"arena say {run.id}" in done.stdout
    key = run.waiting_for.key

    assert typed("say", "last", "--action", "default").returncode == 0
    assert typed("watch", run.id, "--until-pause", "--after", str(run.last_seq)).returncode == 7
    assert arena.runs.get(run).waiting_for.key != key
    assert typed("stop", "last").returncode == 0
    assert typed("watch", run.id).returncode == 6


def test_a_run_is_watched_to_its_end_repeats_to_theirs_and_one_that_fails_is_told_by_its_code(typed, arena):
    failed = typed(*ARENA, "--model", "sim/failing", *PAIR[2:], "--watch")
    assert (failed.returncode, "failed" in failed.stdout) == (5, True)

    done = typed(*ARENA, *PAIR, "--turns", "1", "--title", "Typed", "--watch")
    assert done.returncode == 0, done.stderr
    run = arena.runs.list(search="Typed").first()
    for message in arena.runs.messages(run):
        assert plain(message.text) in done.stdout
    assert "The run is completed: max_turns" in done.stdout
    assert f"{run.id}: 1 turns, " in done.stdout

    repeated = typed(*ARENA, *PAIR, "--turns", "1", "--repeats", "2", "--watch")
    assert repeated.returncode == 0, repeated.stderr
    assert len(re.findall(r"completed  max_turns", repeated.stdout)) == 2


def test_other_workflows_are_run_and_watched(typed):
    names = [f"sim/coder-{name}" for name in ("oak", "ash", "elm")]
    coders = [add_model(name, upstream=f"{name}:first=0").slug for name in names]
    for code, workflow, options in (
        (7, "starchamber", ("--model", "sim/neutral", "--prompt", "Who are you?", "--until-pause")),
        (0, "council", (*THREE[:4], *COUNCIL)),
        (0, "debate", (*THREE, *DEBATE)),
        (0, "coding", [f"--model={slug}" for slug in coders]),
    ):
        with sandbox_as_played():
            done = typed("run", workflow, *options, "--watch")
        assert done.returncode == code, done.stderr


def test_every_list_is_a_table_and_json(typed):
    for what in ("models", "runs", "datasets", "ladders", "budget"):
        table, as_json = typed(what), typed(what, "--json")
        assert (table.returncode, as_json.returncode) == (0, 0), what
        assert isinstance(json.loads(as_json.stdout), list), what
        assert table.stdout or "nothing here" in table.stderr or "No budget" in table.stderr, what


def test_who_signs_in_is_known_from_then_on_and_nobody_else_can_read_it(typed, token, tmp_path):
    forgotten = {"ARENA_URL": "", "ARENA_TOKEN": "", "XDG_CONFIG_HOME": str(tmp_path)}

    unknown = typed("models", **forgotten)
    assert (unknown.returncode, "arena login" in unknown.stderr) == (4, True)
    assert typed("login", IN_PROCESS, "--token-stdin", stdin="alab_wrong\n", **forgotten).returncode == 4
    assert typed("login", f"{IN_PROCESS}/", "--token-stdin", stdin=f"{token}\n", **forgotten).returncode == 0
    stored = tmp_path / "arena-lab" / "credentials.json"
    assert (stored.stat().st_mode & 0o777, stored.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert typed("models", **forgotten).returncode == 0
    elsewhere = typed("--url", "http://evil.example", "models", **forgotten)
    assert (elsewhere.returncode, "no token for http://evil.example" in elsewhere.stderr) == (4, True)
    assert typed("logout", **forgotten).returncode == 0
    assert not stored.exists()


def test_what_is_refused_mistyped_or_away_has_codes_of_its_own(typed, monkeypatch):
    refused = typed(*ARENA, "--model", "sim/nobody", "--model", "sim/nobody")
    assert (refused.returncode, refused.stdout, "cast" in refused.stderr) == (1, "", True)
    assert typed("fly").returncode == 2
    assert typed("show", "0000").returncode == 1

    def nobody_listens(_transport, request):
        raise httpx.ConnectError("nobody listens", request=request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", nobody_listens)
    away = typed("models")
    assert (away.returncode, IN_PROCESS in away.stderr) == (3, True)
    written = "red \x1b[31mtext\x07\x9b2J\u202e\r\nnext\tline"
    assert plain(written) == "red �[31mtext��2J�\nnext\tline", "what models write cannot steer a terminal"
