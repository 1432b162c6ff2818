"""What is in `deploy/` fits the code and published schemas: commands, variables, and the rules of a deployment."""

import json
import os
import re
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from django.core.management import call_command

from arenasite.supervisor.parts import Parts
from benchmarks import sizing
from experiments.engine.callers import DRAIN_SECONDS
from experiments.lab.observing import counting
from tests.answering import answering
from tests.sources import ROOT, sources

DEPLOY = ROOT / "deploy"
FOLDER = DEPLOY / "kubernetes"
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
VARIABLE = re.compile(r"ARENA_[A-Z]+(?:_[A-Z]+)*|PORT|DATABASE_URL|REDIS_URL|OPENROUTER_API_KEY")
MOST_EXPOSED = {"arena-sandbox.service": 3.5, "arena-up.service": 3.5}  # they make namespaces
UNITS = (
    *("arena-web@8000", "arena-engine@1", "arena-callers@1", "arena-reports"),
    *("arena-sandbox", "arena-prepare", "arena-backup", "arena-up"),
)


def read_by_the_code():
    texts = {text for source in sources().values() for text in source.texts}
    return {"DATABASE_URL", *filter(VARIABLE.fullmatch, texts)}  # dj_database_url knows its name


def test_the_example_of_the_environment_lists_what_the_code_reads_and_kubernetes_sets_nothing_else():
    listed = re.findall(r"^#?([A-Z][A-Z_]*)=", (DEPLOY / "arena.env.example").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(set(listed))
    assert set(listed) == read_by_the_code()

    files = (FOLDER / "arena.env", FOLDER / "secrets.env.example")
    lines = [line for path in files for line in path.read_text().splitlines() if line and line[0] != "#"]
    set_here = {line.partition("=")[0] for line in lines}
    beside = {one["name"] for pod in pods().values() for one in pod["containers"][0].get("env", ())}
    assert set_here | beside <= read_by_the_code() | {"ARENA_DATA", "REDIS_URL"}
    assert {"ARENA_SECRET_KEY", "ARENA_KEY_SECRETS", "DATABASE_URL", "ARENA_FILES"} <= set_here


def commands():
    """Of each part, what `manage.py up` starts it with, behind the name of Python."""
    parts = Parts(ROOT, Path("/data"), Path("/sockets"), 5)
    children = {"engine": parts.worker(1), "callers": parts.caller(1)}
    children |= {"reports": parts.reports(), "sandbox": parts.sandbox()}
    return {name: [str(word) for word in child.argv[2:]] for name, child in children.items()}


def services():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]


def test_compose_systemd_and_kubernetes_start_each_part_as_the_platform_itself_does():
    told = services()
    assert {name: told[name]["command"] for name in commands()} == commands()
    assert told["web"]["command"][0] == "serve"
    assert float(told["callers"]["stop_grace_period"].rstrip("s")) >= DRAIN_SECONDS
    for name, words in commands().items():
        [unit] = (DEPLOY / "systemd").glob(f"arena-{name}*.service")
        assert f"ExecStart=/opt/arena/.venv/bin/python manage.py {' '.join(words)}\n" in unit.read_text()

    started = {name: pod["containers"][0].get("args") for name, pod in pods().items()}
    ours = {"tasks" if name == "reports" else name: command for name, command in commands().items()}
    assert {name: started[name] for name in ours} == ours
    assert started["web"][0] == "serve"


def test_no_container_may_do_more_than_it_must_and_parts_wait_for_tables():
    told = services()
    for name, service in told.items():
        if service["image"] == "arena-lab":
            assert service["read_only"], name
            assert service["user"] == "10001:10001", name
            assert service["cap_drop"] == ["ALL"], name
        else:
            assert ":" in service["image"], "a version"
        assert not service.get("privileged"), name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert not any("docker.sock" in str(volume) for volume in service["volumes"]), name
    assert [name for name, service in told.items() if service.get("ports")] == ["nginx"]

    for name in ("web", "engine", "callers", "reports", "sandbox"):
        assert told[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
    assert told["db"]["networks"] == told["redis"]["networks"] == told["sandbox"]["networks"] == ["inside"]
    assert yaml.safe_load((DEPLOY / "compose.yaml").read_text())["networks"]["inside"] == {"internal": True}
    for name in ("web", "db", "redis", "nginx"):
        assert told[name]["healthcheck"]["test"], name


def test_no_secret_stands_in_what_is_deployed():
    for path in DEPLOY.rglob("*"):
        if not path.is_file():
            continue
        for name, value in re.findall(r"(\w*(?:PASSWORD|SECRETS?|_KEY))[=:] *(\S*)", path.read_text()):
            assert not value or value.startswith(("${POSTGRES_PASSWORD:?", "?is")), (path, name)


def test_the_image_is_made_from_the_locked_list_and_runs_as_nobody_in_particular():
    text = (DEPLOY / "docker/Dockerfile").read_text()

    assert "--require-hashes -r requirements-bucket.lock" in text
    assert re.findall(r"^USER (.*)", text, re.MULTILINE) == ["10001:10001"]
    assert "curl" not in text
    copied = set(re.findall(r"^COPY (?!--from)(\S+)", text, re.MULTILINE))
    let_through = re.findall(r"^!(\S+)", (DEPLOY / "docker/Dockerfile.dockerignore").read_text(), re.MULTILINE)
    assert copied == set(let_through)
    assert all((ROOT / path).exists() for path in copied)


@pytest.mark.system
def test_a_server_that_is_there_is_not_ended_for_what_it_lacks():
    def ready(place):
        command = [sys.executable, str(DEPLOY / "ready.py"), f"{address}/{place}", "0.2"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr

    with answering(lambda asked: (int(asked.path[1:]), {}, b"Redis is not responding.")) as address:
        assert ready(200) == (0, "")
        code, said = ready(503)
        assert (code, "Redis is not responding." in said) == (0, True)

    code, said = ready(200)
    assert (code, "no answer" in said) == (1, True)


@pytest.mark.system
def test_systemd_understands_every_line_of_the_units_which_are_as_closed_as_their_work_allows(tmp_path):
    checker, folder = shutil.which("systemd-analyze"), tmp_path / "units"
    assert checker, "systemd-analyze is missing: apt install systemd"
    shutil.copytree(DEPLOY / "systemd", folder)
    for path in filter(Path.is_file, folder.rglob("*.*")):  # as they would be where the code is here
        text = path.read_text().replace("/opt/arena/.venv/bin/python", "/bin/sh")
        path.write_text(text.replace("/opt/arena", str(ROOT)))

    def units(*words):
        where = {**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:"}
        done = subprocess.run([checker, *words], env=where, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    everything = [f"{name}.service" for name in UNITS]
    assert units("verify", "--man=no", "arena.target", "arena-backup.timer", *everything) == (0, "")
    for name in everything:
        code, said = units("security", "--offline=true", "--no-pager", name)
        [exposure] = re.findall(r"exposure level for \S+: ([0-9.]+)", said)
        assert code == 0
        assert float(exposure) <= MOST_EXPOSED.get(name, 2.0), said


def test_static_files_can_be_read_by_others_whatever_the_services_keep_to_themselves(tmp_path, settings):
    settings.STATIC_ROOT = tmp_path / "static"
    before = os.umask(0o077)
    try:
        call_command("collectstatic", "--no-input", verbosity=0)
    finally:
        os.umask(before)

    found = [settings.STATIC_ROOT, *settings.STATIC_ROOT.rglob("*")]
    assert len(found) > 50
    assert {path.stat().st_mode & 0o777 for path in found if path.is_dir()} == {0o755}
    assert {path.stat().st_mode & 0o777 for path in found if path.is_file()} == {0o644}


def test_what_is_within_the_measurement_is_called_measured_and_nothing_else():
    known = sizing.Measured(runs=50, viewers=200, idle=100, each=1024)

    assert sizing.row(50, known) == ("50", "1", "1", "2", "150 MiB", "2,500", "measured")
    assert sizing.row(1000, known) == ("1,000", "20", "5", "25", "2.9 GiB", "50,000", "computed")


def test_alerts_and_the_dashboard_name_figures_and_labels_that_there_are_and_rates_are_of_what_only_rises():
    known = {}
    for family in counting.FAMILIES:
        if family.kind == "histogram":
            known[f"{family.name}_bucket"] = {*family.labels, "le"}
            known |= {f"{family.name}_{end}": set(family.labels) for end in ("sum", "count")}
        else:
            known[family.name] = set(family.labels)
    dashboard = json.loads((DEPLOY / "grafana/arena-lab.json").read_text(encoding="utf-8"))
    alerts = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text(encoding="utf-8"))["groups"]
    rules = [rule for group in alerts for rule in group["rules"]]
    drawn = {target["expr"] for panel in dashboard["panels"] for target in panel["targets"]}

    for expression in drawn | {rule["expr"] for rule in rules}:
        names = set(re.findall(r"\barena_\w+", expression))
        assert set() < names <= set(known), expression
        labels = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
        labels |= set(re.findall(r"(\w+)=~?\"", expression))
        assert labels <= set.union(*(known[name] for name in names)), expression
        rising = set(re.findall(r"(?:rate|increase)\((arena_\w+)", expression))
        assert all(name.endswith(("_total", "_bucket", "_count", "_sum")) for name in rising), expression
        assert not any(name.endswith(("_total", "_bucket")) for name in names - rising), expression
    for rule in rules:
        there = set().union(*(known[name] for name in re.findall(r"arena_\w+", rule["expr"])))
        for label in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
            assert label in rule["expr"] or label in there, rule


def manifests():
    texts = ((FOLDER / name).read_text() for name in KUSTOMIZATION["resources"])
    return [manifest for text in texts for manifest in yaml.safe_load_all(text)]


def pods():
    """By name, what stands in each manifest that starts pods."""
    found = (one for one in manifests() if one["kind"] in ("Deployment", "StatefulSet", "Job"))
    return {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in found}


def test_all_manifests_fit_the_published_schemas_of_the_oldest_version_that_is_promised_and_the_newest(subtests):
    for version, manifest in product(("1.28", "1.37"), manifests()):
        with subtests.test(f"{version} {manifest['kind']} {manifest['metadata']['name']}"):
            kubernetes_validate.validate(manifest, version, strict=True)

    # Each file is named, each name is a file, and secrets are not kept
    assert {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml"} == set(KUSTOMIZATION["resources"])
    assert {"arena.env", "secrets.env.example"} == {path.name for path in FOLDER.glob("*env*")}
    assert "deploy/kubernetes/secrets.env" in Path(DEPLOY.parent / ".gitignore").read_text().split()


def test_no_pod_has_more_rights_than_it_needs_and_longer_to_end_than_it_waits_for_its_calls():
    for name, pod in pods().items():
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            kept = container["securityContext"]
            assert (kept["allowPrivilegeEscalation"], kept["readOnlyRootFilesystem"]) == (False, True), name
            assert kept["capabilities"] == {"drop": ["ALL"]}, name
            assert {"requests", "limits"} <= set(container["resources"]), name
        assert pod["securityContext"]["runAsNonRoot"], name
        assert pod["automountServiceAccountToken"] is False, name
        waits = {one["name"]: int(one["value"]) for one in pod["containers"][0].get("env", ())}
        assert pod.get("terminationGracePeriodSeconds", 30) > max(waits.values(), default=0), name
    assert pods()["callers"]["terminationGracePeriodSeconds"] >= DRAIN_SECONDS


def test_what_is_scaled_is_there_and_the_sandbox_reaches_nothing_but_the_database_and_redis():
    names = {(one["kind"], one["metadata"]["name"]) for one in manifests()}
    scaled = [one["spec"]["scaleTargetRef"] for one in manifests() if one["kind"] == "HorizontalPodAutoscaler"]
    [policy] = [one["spec"] for one in manifests() if one["kind"] == "NetworkPolicy"]

    assert {(one["kind"], one["name"]) for one in scaled} <= names
    assert {"engine", "sandbox", "tasks"} == {one["name"] for one in scaled}
    assert policy["podSelector"] == {"matchLabels": {"app": "sandbox"}}
    assert set(policy["policyTypes"]) == {"Ingress", "Egress"}
    assert {port["port"] for rule in policy["egress"] for port in rule["ports"]} == {6379, 5432, 53}
    assert not any(mount["name"] == "files" for mount in pods()["sandbox"]["containers"][0]["volumeMounts"])
