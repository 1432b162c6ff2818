"""probe(): what holds here is found out by attack, and where it does not, nothing is run."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from experiments.sandbox import Limits, Probe, Test, Unavailable, isolation, probe, run
from experiments.sandbox.backends import backend_named
from tests.experiments.sandbox.conftest import SAFE, first_of

pytestmark = pytest.mark.system


@pytest.fixture
def nothing_known(monkeypatch):
    monkeypatch.setattr(isolation, "known", {})


@pytest.mark.parametrize("backend", first_of(SAFE))
def test_every_attack_fails_on_a_sandbox_that_holds(backend):
    found = probe(backend)

    attacks = found.layers[-12:]
    assert [layer.name for layer in attacks if not layer.holds] == []
    names = {layer.name for layer in found.layers}
    assert names > {"landlock", "reads no file of this machine", "is stopped at its time"}
    assert all(layer.detail for layer in found.layers)
    assert (found.backend, found.is_sufficient, found.refusal) == (backend, True, "")


def test_the_unsafe_one_lets_attacks_through_says_so_and_is_used_when_asked_for_by_name():
    found = probe("unsafe")
    broken = {layer.name for layer in found.layers if not layer.holds}

    assert not found.is_sufficient
    assert found.refusal.startswith("unsafe keeps nothing in")
    assert broken >= {"reads no file of this machine", "reaches no TCP server", "starts no process", "landlock"}
    assert "is stopped at its memory" not in broken

    ran = run("def solve(): return 42", [Test("only", [], 42)], backend="unsafe")
    assert (ran.passed, ran.is_unsafe, ran.layers[:1]) == (1, True, ("limits",))


def test_what_was_found_out_is_known_until_it_is_asked_afresh_and_shared_by_threads_that_ask_at_once(nothing_known):
    first = probe()

    assert probe() is first
    assert probe(fresh=True) is not first

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(probe, ["unsafe"] * 4))
    assert len({id(one) for one in found}) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("backend", ["namespaces"])
def test_without_bubblewrap_the_namespaces_are_made_by_ourselves(backend, nothing_known, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")

    found = run("def solve(): return 42", [Test("only", [], 42)])

    assert (found.passed, found.backend) == (1, backend)
    assert probe("bubblewrap").refusal == "bubblewrap is not installed: apt install bubblewrap."


def test_a_sandbox_with_a_hole_is_refused_with_what_it_lets_through(nothing_known, monkeypatch):
    leaky = replace(backend_named("unsafe"), name="namespaces")
    monkeypatch.setattr(isolation, "AUTOMATIC", (leaky,))

    with pytest.raises(Unavailable) as refused:
        run("def solve(): return 42", [Test("only", [], 42)])

    said = str(refused.value)
    beginning = "No sandbox here keeps a program in. namespaces does not hide the files, cut off the network,"
    assert said.startswith(beginning)
    assert "pass the attack “reads no file of this machine”" in said
    assert "docker" in said
    assert probe() == Probe(None, probe().layers, False, said)


def test_a_sandbox_that_does_not_start_says_why(nothing_known):
    made, failing = backend_named("landlock"), ("/bin/sh", "-c", "echo no namespaces today >&2; exit 1")

    found = isolation.probed(replace(made, box=lambda *asked: replace(made.box(*asked), command=failing)))

    assert found == Probe("landlock", (), False, "landlock does not start: no namespaces today.")


def test_docker_without_a_daemon_and_a_backend_that_there_is_not_say_what_is_missing(monkeypatch, tmp_path):
    with pytest.raises(Unavailable, match="There is no sandbox 'chroot'; there are bubblewrap, namespaces"):
        run("def solve(): ...", [], backend="chroot")
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = "The docker command is missing: apt install docker.io, or ask for another sandbox."
    assert probe("docker", fresh=True).refusal == missing
    (tmp_path / "docker").write_text("#!/bin/sh\necho Cannot connect >&2\nexit 1\n")
    (tmp_path / "docker").chmod(0o755)

    assert probe("docker", fresh=True).refusal == "The Docker daemon cannot be reached: Cannot connect"
    with pytest.raises(Unavailable, match="The Docker daemon cannot be reached"):
        run("def solve(): ...", [], Limits(), backend="docker")
