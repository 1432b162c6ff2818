"""The command `arena`, as somebody types it, with a real platform behind it."""

import json
import os
import pty
import re
import signal
import subprocess

import pytest

from arena_lab.cli.words import plain
from tests.arenasite.platforms import free_port
from tests.client.conftest import COMMAND, SLOW
from tests.fixtures import wait_until

pytestmark = pytest.mark.system


ARENA = (
    "run",
    "arena",
    "--prompt",
    "Share.",
    "--set",
    "gap_seconds=0",
    "--set",
    "judge=false",
    "--set",
    "filter=false",
)
PAIR = ("--model", "sim/cooperative", "--model", "B=sim/competitive")


def test_a_run_is_started_and_watched_to_its_end(command, arena):
    done = command(*ARENA, *PAIR, "--turns", "1", "--title", "Typed", "--watch")

    assert done.returncode == 0, done.stderr
    run = arena.runs.list(search="Typed").first()
    for message in arena.runs.messages(run):
        assert plain(message.text) in done.stdout
    assert "The run is completed: max_turns" in done.stdout
    assert f"{run.id}: 1 turns, " in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


def test_it_is_started_and_left_alone_then_watched_as_json(command, typed):
    [started] = json.loads(command(*ARENA, *PAIR, "--turns", "1", "--json").stdout)

    events = [json.loads(line) for line in command("watch", started["id"], "--json").stdout.splitlines()]

    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["type"] == "experiment_stopped"
    shown = typed("show", "last", "--messages").stdout
    assert started["id"] in shown
    assert "Share." not in re.sub(r"Title.*\n", "", shown)


def heeding_interrupts():
    """As from a terminal: what a shell starts in the background ignores them, and hands that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_leaves_and_the_run_goes_on(lab, arena):
    typed = [*COMMAND, *ARENA, "--model", SLOW, "--model", SLOW, "--turns", "4", "--watch"]
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "bufsize": 1}
    watcher = subprocess.Popen(typed, env=lab.environment(), preexec_fn=heeding_interrupts, **piped)
    while "turn started 1" not in watcher.stdout.readline():
        assert watcher.poll() is None, watcher.stderr.read()

    watcher.send_signal(signal.SIGINT)
    _out, said = watcher.communicate(timeout=60)

    assert watcher.returncode == 130
    again = re.search(r"arena watch (\S+)", said)[1]
    assert "goes on without you" in said
    assert arena.wait(again).state == "completed"


def test_a_run_that_waits_is_left_answered_and_seen_to_its_end(typed, arena):
    done = typed(*ARENA, *PAIR, "--turns", "2", "--set", "mode=manual", "--watch", "--until-pause")
    assert done.returncode == 7, done.stderr
    run = arena.runs.list().first()
    assert f"arena say {run.id}" in done.stdout

    assert typed("stop", "last").returncode == 0
    assert typed("watch", run.id).returncode == 6


def test_a_run_that_fails_is_told_by_its_code(typed):
    done = typed(*ARENA, "--model", "sim/failing", *PAIR[2:], "--watch")

    assert done.returncode == 5
    assert "failed" in done.stdout


def test_repeats_are_seen_to_their_end(typed):
    done = typed(*ARENA, *PAIR, "--turns", "1", "--repeats", "2", "--watch")

    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"completed  max_turns", done.stdout)) == 2


@pytest.mark.parametrize(
    ("code", "workflow", "options"),
    [
        (7, "starchamber", ("--model", "sim/neutral", "--prompt", "Who are you?", "--until-pause")),
        (0, "council", ("--model", "sim/neutral", "--model", "sim/sceptical", "--prompt", "Why is the sky blue?")),
        (0, "debate", ("--model", "sim/neutral", "--model", "sim/sceptical", "--model", "sim/practical")),
        (0, "coding", ("--model", "sim/coder-oak", "--model", "sim/coder-ash", "--model", "sim/coder-elm")),
    ],
)
def test_every_workflow_can_be_run_and_watched(typed, code, workflow, options):
    more = {
        "council": ("--model", "chair=sim/neutral", "--set", "title=false"),
        "debate": (
            "--prompt",
            "Why?",
            "--set",
            "mode=automatic",
            "--set",
            "refine=false",
            "--model",
            "summarizer=sim/neutral",
        ),
    }

    done = typed("run", workflow, *options, *more.get(workflow, ()), "--watch")

    assert done.returncode == code, done.stderr


def test_battles_are_run_and_seen_to_their_end(typed, arena, tmp_path):
    file = tmp_path / "trees.jsonl"
    file.write_text('{"instruction": "Describe an ash.", "one": "Tall.", "two": "Grey."}\n')
    columns = {"instruction": "instruction", "outputs": {"ada": "one", "bob": "two"}}
    arena.datasets.upload(file, "Trees", slug="battled", columns=columns)
    wait_until(lambda: arena.datasets.get("battled").state == "ready", "the file to be read")

    done = typed(
        "run", "battles", "--dataset", "battled", "--model", "sim/judge", "--prompt", "text_quality", "--watch"
    )

    assert done.returncode == 0, done.stderr
    assert "1 of 1 battles are decided; completed" in done.stdout
    [battle] = [battle for battle in arena.battles(state="decided") if battle.board.startswith("battled-")]
    assert {battle.left, battle.right} == {"ada", "bob"}
    assert len(battle.verdicts) == 2


def test_in_a_terminal_there_are_colours_and_a_bar(lab, arena, begin):
    run = arena.wait(begin())
    screen, terminal = pty.openpty()
    watcher = subprocess.Popen([*COMMAND, "watch", run.id], env=lab.environment(TERM="xterm"), stdout=terminal)
    os.close(terminal)
    said = b"".join(iter(lambda: read_from(screen), b"")).decode()

    assert watcher.wait(60) == 0
    assert "\x1b[" in said
    assert re.search(r"turn \d/1.*tokens · \$", said)


def read_from(screen):
    try:
        return os.read(screen, 65536)
    except OSError:  # whoever wrote to it has gone
        return b""


@pytest.mark.parametrize("what", ["models", "runs", "datasets", "ladders", "budget"])
def test_every_list_is_a_table_and_json(typed, what):
    table, as_json = typed(what), typed(what, "--json")

    assert (table.returncode, as_json.returncode) == (0, 0)
    assert isinstance(json.loads(as_json.stdout), list)
    assert table.stdout or "nothing here" in table.stderr or "No budget" in table.stderr


def test_usage_and_files_come_out(command, typed, arena, begin, tmp_path):
    run = arena.wait(begin())

    assert "all " in typed("usage", "--by", "role").stdout
    assert json.loads(typed("usage", "--json").stdout)["total"]["calls"] > 0
    path = typed("report", run.id, "--format", "md", "-o", str(tmp_path)).stdout.strip()
    assert "Share seven panels." in (tmp_path / path).read_text(encoding="utf-8")
    assert run.id in command("export", run.id, "--format", "csv", "-o", "-").stdout


def test_who_signs_in_is_known_from_then_on_and_nobody_else_can_read_it(typed, lab, tmp_path):
    forgotten = {"ARENA_URL": "", "ARENA_TOKEN": "", "XDG_CONFIG_HOME": str(tmp_path)}

    assert typed("models", **forgotten).returncode == 4
    assert typed("login", lab.url, "--token-stdin", stdin="alab_wrong\n", **forgotten).returncode == 4
    assert typed("login", f"{lab.url}/", "--token-stdin", stdin=f"{lab.token}\n", **forgotten).returncode == 0
    stored = tmp_path / "arena-lab" / "credentials.json"
    assert (stored.stat().st_mode & 0o777, stored.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert typed("models", **forgotten).returncode == 0
    elsewhere = typed("--url", "http://evil.example", "models", **forgotten)
    assert (elsewhere.returncode, "no token for http://evil.example" in elsewhere.stderr) == (4, True)
    assert typed("logout", **forgotten).returncode == 0
    assert not stored.exists()


def test_what_is_refused_mistyped_or_away_has_codes_of_its_own(typed):
    refused = typed(*ARENA, "--model", "sim/nobody", "--model", "sim/nobody")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "cast" in refused.stderr
    assert typed("fly").returncode == 2
    assert typed("show", "0000").returncode == 1


def test_a_platform_that_is_away_is_said(typed):
    done = typed("models", ARENA_URL=f"http://127.0.0.1:{free_port()}")

    assert done.returncode == 3
    assert "cannot be reached" in done.stderr


def test_what_models_write_cannot_steer_a_terminal():
    assert plain("red \x1b[31mtext\x07\x9b2J\u202e\r\nnext\tline") == "red �[31mtext��2J�\nnext\tline"
