"""`manage.py up` starts, or says in one sentence why it does not."""

import os
import re
import socket
import sqlite3
import urllib.request

import pytest

from tests.arenasite.platforms import free_port, manage

pytestmark = pytest.mark.system


def test_a_port_in_use_is_said_before_anything_starts(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        ended = manage("up", "--data", str(tmp_path / "data"), "--port", str(port))

    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Port {port} is in use by another program.")
    assert ended.stderr.count("\n") == 1
    assert not (tmp_path / "data" / "redis").exists()


def test_a_directory_that_cannot_be_written_is_said(tmp_path):
    file = tmp_path / "file"
    file.write_text("not a directory")

    ended = manage("up", "--data", str(file / "data"), "--port", str(free_port()))

    assert ended.returncode == 1
    assert ended.stderr.startswith(f"The data directory {file}/data cannot be written: Not a directory.")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("port", ["eighty", "70000", "-1"])
def test_a_port_that_is_none_is_said(tmp_path, port):
    ended = manage("up", PORT=port, ARENA_DATA=str(tmp_path / "data"))

    assert ended.returncode == 1
    assert ended.stderr == f"PORT: '{port}' is no port from 0 to 65535.\n"


@pytest.mark.parametrize("number", ["0", "65", "two"])
def test_a_number_of_web_processes_that_is_none_is_said(tmp_path, number):
    ended = manage("up", "--data", str(tmp_path / "data"), "--web", number)

    assert ended.returncode == 2
    assert ended.stderr.endswith(f"'{number}' is no number of web processes from 1 to 64\n")


def test_a_database_that_does_not_answer_is_said(tmp_path):
    url = f"postgres://nobody@/nothing?host={tmp_path}"

    ended = manage("up", "--data", str(tmp_path / "data"), "--port", str(free_port()), DATABASE_URL=url)

    assert ended.returncode == 1
    assert ended.stderr.startswith("The database cannot be used:")
    assert "Traceback" not in ended.stderr


def test_a_redis_that_does_not_answer_is_said(tmp_path):
    url = f"unix://{tmp_path}/nobody.sock"

    ended = manage("up", "--data", str(tmp_path / "data"), "--port", str(free_port()), REDIS_URL=url)

    assert ended.returncode == 1
    assert ended.stderr.startswith("Redis does not answer at REDIS_URL (ConnectionError).")


def test_a_second_platform_on_the_same_data_is_refused(platform):
    ended = manage("up", "--data", str(platform.data), "--port", str(free_port()))

    assert ended.returncode == 1
    assert ended.stderr.startswith(
        f"The platform is running on {platform.data} already (process {platform.process.pid})"
    )
    assert platform.process.poll() is None


def test_it_serves_when_it_says_so(platform):
    with urllib.request.urlopen(f"http://localhost:{platform.port}/api/health/") as answer:
        assert answer.status == 200


def test_it_says_where_everything_is(platform):
    assert f"Data      {platform.data}\n" in platform.output
    assert f"Logs      {platform.data}/logs\n" in platform.output
    assert "Stop      Ctrl+C\n" in platform.output
    assert {"web.log", "worker-1.log", "redis.log", "simulated.log"} <= set(os.listdir(platform.data / "logs"))


def test_nothing_configured_means_simulated_models_with_prices_and_says_so(platform):
    with sqlite3.connect(platform.data / "arena.sqlite3") as database:
        models = database.execute(
            "SELECT slug, is_tool FROM experiments_providermodel m JOIN experiments_provider p ON p.id = provider_id"
            " WHERE m.is_active AND p.is_active AND is_simulated AND EXISTS"
            " (SELECT 1 FROM experiments_modelprice WHERE model_id = m.id)"
        ).fetchall()

    assert {("sim/cooperative", 0), ("sim/judge", 1), ("sim/filter", 1)} <= set(models)
    assert "Models:   simulated provider (no real model is asked)\n" in platform.output


def test_the_terminal_of_an_empty_platform_has_the_link_to_its_first_administrator(platform):
    [link] = re.findall(rf"http://localhost:{platform.port}/first-administrator/\S+", platform.output)

    with urllib.request.urlopen(link) as answer:
        assert answer.status == 200
    assert "password" not in platform.output


def test_a_process_of_its_own_group_is_not_reached_by_the_terminals_interrupt(platform):
    ours = os.getpgid(platform.process.pid)

    children = set(platform.all_pids()) - {platform.process.pid}

    assert children
    assert all(os.getpgid(pid) != ours for pid in children)


def test_a_real_provider_leaves_the_simulated_one_out(start, tmp_path):
    data = str(tmp_path / "data")
    manage("migrate", ARENA_DATA=data)
    added = manage(
        *("add_provider", "--name", "lab", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--allow-private"),
        ARENA_DATA=data,
    )
    assert added.returncode == 0, added.stderr

    platform = start().wait_until_ready()

    assert "Models:   lab " in platform.output
    assert platform.pids("simulated") == []


def test_the_demonstration_says_who_may_sign_in_and_plays_a_run(start):
    platform = start(ARENA_DEMO="1").wait_until_ready()

    assert "Sign in   researcher, reviewer or admin, password arena-demo-only\n" in platform.output
    with sqlite3.connect(platform.data / "arena.sqlite3") as database:
        played = (
            "SELECT e.workflow, e.id, r.id FROM experiments_run r "
            "JOIN experiments_experiment e ON e.id = experiment_id WHERE r.origin = 'live'"
        )
        runs = {workflow: (experiment, run) for workflow, experiment, run in database.execute(played)}
    campaign, _shard = runs.pop("battles")
    assert set(runs) == {"arena", "starchamber", "council", "debate", "coding"}
    assert all(run in platform.output.replace("-", "") for _experiment, run in runs.values())
    assert campaign in platform.output.replace("-", "")
