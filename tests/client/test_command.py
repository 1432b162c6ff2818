"""The command `arena`, as somebody types it, with the application in this process behind it."""

import json
import re

import httpx
import pytest

from arena_lab.cli.parser import parser
from arena_lab.cli.starting import Misunderstood, plan_of
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


def plan(*arguments):
    return plan_of(parser().parse_args(["run", *arguments]))


def models(found):
    return {seat: one["model"] for seat, one in found.cast.items()}


def test_prompt_and_turns_are_what_the_workflow_calls_so_and_any_setting_is_json_or_text():
    for workflow, prompt, turns in (
        ("arena", "prompt", "max_turns"),
        ("starchamber", "first_message", "max_turns"),
        ("council", "question", "max_turns"),
        ("debate", "prompt", "rounds"),
        ("coding", "topic", "cycles"),
    ):
        assert plan(workflow, "--prompt", "Why?", "--turns", "2").config == {prompt: "Why?", turns: 2}, workflow

    found = plan("arena", "--set", "limits.cost=0.5", "--set", "judge=false", "--set", "first=B", "--dataset", "trees")
    assert found.config == {"limits": {"cost": 0.5}, "judge": False, "first": "B", "dataset": "trees"}

    found = plan("arena", "--model", "A=x/1", "--param", "A.temperature=0.2")
    assert found.cast == {"A": {"model": "x/1", "params": {"temperature": 0.2}}}

    for option in ("--set", "--param"):
        with pytest.raises(Misunderstood, match="a name and a value"):
            plan("arena", option, "judge")


def test_models_without_a_seat_take_the_free_ones_in_order_and_one_too_many_is_asked_for_its_seat():
    for workflow, given, seats in (
        ("arena", ("sim/b", "A=sim/a", "judge=sim/j"), {"A": "sim/a", "B": "sim/b", "judge": "sim/j"}),
        ("arena", ("sim/a:tps=0", "B=sim/b:tps=0"), {"A": "sim/a:tps=0", "B": "sim/b:tps=0"}),
        ("council", ("x/1", "chair=x/2", "x/3"), {"member-1": "x/1", "chair": "x/2", "member-2": "x/3"}),
        ("battles", ("x/1",), {"judge": "x/1"}),
    ):
        assert models(plan(workflow, *(f"--model={one}" for one in given))) == seats
    with pytest.raises(Misunderstood, match=r"--model x/3.*SEAT=MODEL"):
        plan("arena", "--model", "x/1", "--model", "x/2", "--model", "x/3")


def test_a_file_says_it_all_and_the_command_line_has_the_last_word_and_one_that_is_no_plan_is_refused(tmp_path):
    for name, text in {
        "plan.json": json.dumps({"title": "T", "config": {"prompt": "Why?", "max_turns": 9}, "cast": {"A": "x/1"}}),
        "plan.toml": 'title = "T"\n[config]\nprompt = "Why?"\nmax_turns = 9\n[cast]\nA = "x/1"\n',
    }.items():
        (tmp_path / name).write_text(text)
        found = plan("arena", "--config", str(tmp_path / name), "--turns", "2", "--model", "B=x/2")
        assert (found.title, found.config) == ("T", {"prompt": "Why?", "max_turns": 2}), name
        assert models(found) == {"A": "x/1", "B": "x/2"}, name
    for text, said in (
        *(("{", "cannot be understood"), ('{"turns": 2}', "nothing else")),
        ('{"workflow": "council"}', "not for arena"),
    ):
        (tmp_path / "plan.json").write_text(text)
        with pytest.raises(Misunderstood, match=said):
            plan("arena", "--config", str(tmp_path / "plan.json"))

    (tmp_path / "task.txt").write_text("Why is\nthe sky blue?\n")
    assert plan("arena", "--prompt", f"@{tmp_path}/task.txt").config == {"prompt": "Why is\nthe sky blue?"}
    with pytest.raises(Misunderstood, match="cannot be read"):
        plan("arena", "--prompt", "@nowhere.txt")
