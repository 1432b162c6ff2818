"""The list of what the platform is made of, as CycloneDX 1.6: the same lock always gives the same bytes."""

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from arenasite.supply.licences import UNKNOWN, licence_of
from arenasite.supply.locks import OURS, Package

SCHEMA = "http://cyclonedx.org/schema/bom-1.6.schema.json"
FILES = "https://pypi.org/project/{name}/{version}/#files"


def document(packages: Iterable[Package], *, version: str) -> dict[str, object]:
    """version: ours. No time is in it: what it was made from says when."""
    ours = {"type": "application", "bom-ref": OURS, "name": OURS, "version": version}
    found = sorted(packages, key=lambda package: (package.name, package.version))
    contents = {"components": [_component(package) for package in found], "dependencies": _dependencies(found)}
    number = uuid5(NAMESPACE_URL, json.dumps([version, contents], sort_keys=True))
    return {
        "$schema": SCHEMA,
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"component": ours},
        **contents,
    }


def text(bom: dict[str, object]) -> str:
    return json.dumps(bom, indent=2, ensure_ascii=False) + "\n"


def _component(package: Package) -> dict[str, Any]:
    hashes = [{"alg": "SHA-256", "content": digest} for digest in package.hashes]
    files = {"type": "distribution", "url": FILES.format(name=package.name, version=package.version), "hashes": hashes}
    component = {
        "type": "library",
        "bom-ref": _name(package),
        "name": package.name,
        "version": package.version,
        "purl": _name(package),
        "licenses": _licences(package.name),
        "externalReferences": [files],
    }
    if package.marker:
        component["properties"] = [{"name": f"{OURS}:needed-where", "value": package.marker}]
    return component


def _licences(name: str) -> list[dict[str, Any]]:
    expression = licence_of(name)
    if expression == UNKNOWN:
        return [{"license": {"name": UNKNOWN}}]
    return [{"expression": expression}]


def _dependencies(packages: list[Package]) -> list[dict[str, Any]]:
    """The lock says of each package who wants it; the list says of each which ones it wants."""
    wanted: defaultdict[str, list[str]] = defaultdict(list)
    for package in packages:
        for by in package.wanted_by:
            wanted[by].append(_name(package))
    all_ = [(OURS, OURS), *((_name(package), package.name) for package in packages)]
    return [{"ref": ref, "dependsOn": sorted(wanted[name])} for ref, name in all_]


def _name(package: Package) -> str:
    return f"pkg:pypi/{package.name}@{package.version}"
