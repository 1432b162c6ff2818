"""The manifests for Kubernetes fit its published schemas, start what the platform itself starts, and keep its rules."""

from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from experiments.engine.callers import DRAIN_SECONDS
from tests.deployment.test_examples import DEPLOY, commands, read_by_the_code

FOLDER = DEPLOY / "kubernetes"
KUSTOMIZATION = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
VERSIONS = ("1.28", "1.37")  # the oldest and the newest that are promised
OUTSIDE = ("ARENA_DATA", "REDIS_URL")  # set by the manifests alone


def manifests():
    texts = ((FOLDER / name).read_text() for name in KUSTOMIZATION["resources"])
    return [manifest for text in texts for manifest in yaml.safe_load_all(text)]


def pods():
    """By name, what stands in each manifest that starts pods."""
    found = (one for one in manifests() if one["kind"] in ("Deployment", "StatefulSet", "Job"))
    return {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in found}


@pytest.mark.parametrize("version", VERSIONS)
def test_they_fit_the_published_schemas(version, subtests):
    for manifest in manifests():
        with subtests.test(f"{manifest['kind']} {manifest['metadata']['name']}"):
            kubernetes_validate.validate(manifest, version, strict=True)


def test_each_file_is_named_each_name_is_a_file_and_secrets_are_not_kept():
    assert {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml"} == set(KUSTOMIZATION["resources"])
    assert {"arena.env", "secrets.env.example"} == {path.name for path in FOLDER.glob("*env*")}
    assert "deploy/kubernetes/secrets.env" in Path(DEPLOY.parent / ".gitignore").read_text().split()


def test_the_parts_are_started_as_the_platform_itself_does():
    started = {name: pod["containers"][0].get("args") for name, pod in pods().items()}

    told = {"tasks" if name == "reports" else name: command for name, command in commands().items()}
    assert {name: started[name] for name in told} == told
    assert started["web"][0] == "serve"


def test_only_variables_that_the_code_reads_are_set():
    files = (FOLDER / "arena.env", FOLDER / "secrets.env.example")
    lines = [line for path in files for line in path.read_text().splitlines() if line and line[0] != "#"]
    set_here = {line.partition("=")[0] for line in lines}
    beside = {one["name"] for pod in pods().values() for one in pod["containers"][0].get("env", ())}

    assert set_here | beside <= read_by_the_code() | set(OUTSIDE)
    assert {"ARENA_SECRET_KEY", "ARENA_KEY_SECRETS", "DATABASE_URL", "ARENA_FILES"} <= set_here


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
