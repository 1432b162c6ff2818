"""What needs a platform: sockets, processes, a terminal, a server that dies, printed examples; and tasks of Inspect."""

import os
import pty
import re
import signal
import subprocess
import sys
import venv
from functools import partial
from pathlib import Path

import httpx
import pytest

from arena_lab import Arena, AsyncArena, Delta, Said
from arena_lab_inspect.command import main
from experiments.models import Run
from tests.client.conftest import COMMAND, IN_PROCESS, ROOT, SLOW, begun
from tests.fixtures import wait_until

pytestmark = pytest.mark.system

PLATFORMS = {"django", "rest_framework", "accounts", "experiments", "leaderboard", "arenasite", "pandas"}
ENDLESS = ("run", "arena", "--prompt", "Share.", "--set", "judge=false", "--model", SLOW, "--model", SLOW)


@pytest.fixture
def arena(lab):
    with Arena(lab.url, lab.token) as found:
        yield found


def test_the_examples_of_the_page_run_exactly_as_they_are_printed(lab, tmp_path):
    page = (ROOT / "docs" / "api.md").read_text("utf-8").partition("## Webhooks")[0]
    example, *others = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    first = lab.run(sys.executable, "-c", example, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("[1] experiment created\n")
    assert "A: " in first.stdout
    assert "completed: max_turns" in first.stdout.splitlines()[-1]

    opening = "from arena_lab import Arena\narena = Arena()\n"
    rest = lab.run(sys.executable, "-c", opening + "\n".join(others), cwd=tmp_path)
    assert rest.returncode == 0, rest.stderr
    assert "('completed', 2, Decimal(" in rest.stdout
    assert "cooperation" in rest.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"panels.html", "panels.jsonl"}


def test_nobody_who_watches_misses_anything_when_the_server_dies(lab, arena):
    run, seqs, troubles = begun(arena, SLOW, SLOW, max_turns=2), [], []
    killed = lab.platform.pids("web")

    for event in arena.watch(run, live=True, on_trouble=lambda said, seconds: troubles.append((said, seconds))):
        seqs.append(event.seq)
        if event.type == "turn_started" and event.turn == 1:
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    assert troubles
    assert all(said and seconds > 0 for said, seconds in troubles)
    assert seqs == list(range(1, arena.runs.get(run).last_seq + 1))
    assert arena.runs.get(run).state == "completed"
    assert not set(killed) & set(lab.platform.pids("web"))


async def test_words_come_by_a_socket_while_they_are_said_and_are_those_of_the_message(lab, arena):
    """Whoever comes late hears a message from its middle on."""
    run, heard, seqs, compared = begun(arena, SLOW, SLOW, max_turns=2), {}, [], 0
    async with AsyncArena(lab.url, lab.token) as awaiting:
        async for item in awaiting.watch(run, live=True, deltas=True):
            if isinstance(item, Delta):
                heard.setdefault(item.call, []).append(item)
                continue
            seqs.append(item.seq)
            for delta in heard.get(item.message.call, []) if isinstance(item, Said) else ():
                assert item.message.raw_text[delta.offset :][: len(delta.text)] == delta.text
                compared += 1

    assert compared
    assert seqs == list(range(1, arena.runs.get(run).last_seq + 1))
    assert [event.seq for event in arena.watch(run, live=True, after=seqs[-3])] == seqs[-2:]


def test_a_terminal_has_colours_and_a_bar_and_ctrl_c_leaves_while_the_run_goes_on(lab, arena):
    screen, terminal = pty.openpty()
    heeded = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # what a shell starts in the background ignores it
    watcher = subprocess.Popen(
        [*COMMAND, *ENDLESS, "--turns", "2", "--watch"],
        env=lab.environment(TERM="xterm"),
        stdout=terminal,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heeded,
    )
    os.close(terminal)
    said = ""
    while not re.search(r"turn \d/2.*tokens · \$", said):
        said += read_from(screen).decode(errors="replace")

    watcher.send_signal(signal.SIGINT)
    while read_from(screen):
        pass
    left = watcher.communicate(timeout=60)[1]

    assert "\x1b[" in said
    assert watcher.returncode == 130
    assert arena.wait(re.search(r"arena watch (\S+)", left)[1]).state == "completed"


def read_from(screen):
    try:
        return os.read(screen, 65536)
    except OSError:  # whoever wrote to it has gone
        return b""


def test_a_dataset_is_sent_and_its_battles_are_seen_to_their_end(lab, arena, tmp_path):
    file = tmp_path / "trees.jsonl"
    file.write_text('{"instruction": "Describe an ash.", "one": "Tall.", "two": "Grey."}\n')
    columns = {"instruction": "instruction", "outputs": {"ada": "one", "bob": "two"}}
    sent = arena.datasets.upload(file, "Trees", slug="trees", takes_votes=False, columns=columns)
    wait_until(lambda: arena.datasets.get(sent.slug).state in ("ready", "refused"), "the file to be read")
    ready = arena.datasets.get(sent.slug)
    assert (ready.state, ready.samples, ready.takes_votes) == ("ready", 1, False)
    assert {one["name"] for one in ready.contestants} == {"ada", "bob"}
    assert sent.slug in {one.slug for one in arena.datasets.list()}

    battles = ("battles", "--dataset", sent.slug, "--model", "sim/judge", "--prompt", "text_quality")
    done = lab.run(*COMMAND, "run", *battles, "--watch")
    assert done.returncode == 0, done.stderr
    assert "1 of 1 battles are decided; completed" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    [battle] = [battle for battle in arena.battles(state="decided") if battle.board.startswith(sent.slug)]
    assert {battle.left, battle.right} == {"ada", "bob"}
    assert len(battle.verdicts) == 2
    for entry in arena.ladders.list():
        assert arena.ladders.get(entry.slug).slug == entry.slug
        assert list(arena.ladders.milestones(entry.slug)) == []


def test_the_command_is_linked_into_an_environment_and_imports_nothing_of_the_platform(tmp_path):
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    programs = tmp_path / "venv" / "bin"
    subprocess.run([programs / "python", ROOT / "client" / "link.py"], check=True)
    libraries = {**os.environ, "PYTHONPATH": str(Path(httpx.__file__).parent.parent)}  # what `make setup` installs

    version = subprocess.run([programs / "arena", "--version"], env=libraries, capture_output=True, text=True)
    assert version.stdout.startswith("arena 0."), version.stderr
    names = "import sys; import arena_lab.cli; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [programs / "python", "-c", names]
    loaded = subprocess.check_output(command, env=libraries, cwd="/", text=True).split()
    assert "arena_lab" in loaded
    assert not PLATFORMS & set(loaded)


TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

@task
def planets(answer: str = "Mars"):
    asked = [ChatMessageSystem(content="Be brief."), ChatMessageUser(content="Name a planet.")]
    choices = Sample(input="Which is red?", choices=["Venus", answer], id="red")
    return Task(dataset=[Sample(input=asked, id="any"), choices], name="planets")

@task
def talks():
    return Task(dataset=[Sample(input=[ChatMessageUser(content="Hi."), ChatMessageAssistant(content="Hi.")])])
"""


def test_each_sample_becomes_a_run_but_none_where_one_cannot_be_played_or_no_model_is_named(token, tmp_path, capsys):
    file = tmp_path / "tasks.py"
    file.write_text(TASK)

    def play(name, *arguments):
        status = main([f"{file}@{name}", "--url", IN_PROCESS, "--token", token, *arguments])
        return status, capsys.readouterr()

    with pytest.raises(SystemExit, match="names no model"):
        play("planets")
    status, said = play("talks", "--model", "model=sim/cooperative")
    assert (status, "begins with one message" in said.err) == (2, True)
    assert not Run.objects.exists()

    status, said = play("planets", "--model", "model=sim/cooperative", "-T", "answer=Mars!")
    assert status == 0
    runs = [Run.objects.get(pk=line.split("\t")[0]) for line in said.out.splitlines()]
    assert [run.experiment.title for run in runs] == ["planets: any", "planets: red"]
    assert [run.config["first_message"] for run in runs] == ["Name a planet.", "Which is red?\n\nA) Venus\nB) Mars!"]
    assert runs[0].config["context"] == "Be brief."
