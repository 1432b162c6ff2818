"""Under which licence a package is, by its SPDX name, and whether it may be part of the platform."""

import re
from importlib.metadata import PackageNotFoundError, metadata

UNKNOWN = "NOASSERTION"
# What the platform may be shipped with: permissive ones, fonts', and weak copyleft of libraries used as they come.
ACCEPTABLE = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0", "MIT-CMU"),
    *("PSF-2.0", "TCL", "ZPL-2.1", "Zlib", "OFL-1.1", "LGPL-3.0-only", "MPL-2.0"),
}
# Read from the packages' own files, where their metadata does not say it by an SPDX name, or has no words for it here.
KNOWN = {
    "async-timeout": "Apache-2.0",
    "automat": "MIT",
    "channels-redis": "BSD-3-Clause",
    "colorama": "BSD-3-Clause",
    "daphne": "BSD-3-Clause",
    "django-csp": "BSD-3-Clause",
    "drf-spectacular-sidecar": "BSD-3-Clause",
    "django-filter": "BSD-3-Clause",
    "fido2": "BSD-2-Clause",
    "python-dateutil": "Apache-2.0 OR BSD-3-Clause",
    "qrcode": "BSD-3-Clause",
    "reportlab": "BSD-3-Clause",
    "sqlparse": "BSD-3-Clause",
    "u-msgpack-python": "MIT",
    "uritemplate": "BSD-3-Clause OR Apache-2.0",
}
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}


def licence_of(name: str) -> str:
    """An SPDX expression; NOASSERTION where neither we nor the installed package say it."""
    if name in KNOWN:
        return KNOWN[name]
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return UNKNOWN
    if "License-Expression" in told:
        return told["License-Expression"]
    if "License" in told and told["License"] in ACCEPTABLE:
        return told["License"]
    classes = [line.rpartition(" :: ")[2] for line in told.get_all("Classifier", []) if line.startswith("License ::")]
    found = [CLASSIFIERS[one] for one in classes if one in CLASSIFIERS]
    return " OR ".join(found) if found and len(found) == len(classes) else UNKNOWN


def is_acceptable(expression: str) -> bool:
    """Of licences joined by AND each must be, of those joined by OR one."""
    parts = [part.strip("() ") for part in re.split(r"\s+AND\s+", expression)]
    return all(any(name.strip("() ") in ACCEPTABLE for name in re.split(r"\s+OR\s+", part)) for part in parts)
