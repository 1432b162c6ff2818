"""What is known against the locked packages, as OSV (osv.dev) tells, which gathers PyPI's and GitHub's advisories."""

from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from arenasite.supply.locks import Package

OSV = "https://api.osv.dev"
AT_ONCE = 500  # packages of a question
SECONDS = 30.0


class NoAnswer(Exception):
    """The service cannot be reached, or does not answer as it should: nothing is known, good or bad."""


@dataclass(frozen=True, slots=True)
class Finding:
    package: str
    version: str
    advisory: str


def known_against(packages: Sequence[Package], *, service: str = OSV) -> list[Finding]:
    """Names and versions are sent, nothing else. Raises NoAnswer."""
    found: list[Finding] = []
    with httpx.Client(base_url=service, timeout=SECONDS) as client:
        for start in range(0, len(packages), AT_ONCE):
            found += _ask(client, packages[start : start + AT_ONCE])
    return found


def _ask(client: httpx.Client, packages: Sequence[Package]) -> list[Finding]:
    queries = [{"package": {"name": one.name, "ecosystem": "PyPI"}, "version": one.version} for one in packages]
    try:
        answer = client.post("/v1/querybatch", json={"queries": queries})
        answer.raise_for_status()
        results = answer.json()["results"]
        if len(results) != len(packages):
            raise NoAnswer(f"{len(packages)} packages were asked about, and {len(results)} answers came.")
        return [
            Finding(one.name, one.version, str(advisory["id"]))
            for one, result in zip(packages, results, strict=True)
            for advisory in result.get("vulns", [])
        ]
    except (httpx.HTTPError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise NoAnswer(f"{type(error).__name__}: {error}") from error
