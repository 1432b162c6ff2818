"""Makes the client of this repository importable in a virtual environment, and puts the command `arena` there.

    .venv/bin/python client/link.py

Nothing is built or fetched: an installer would want to do both, and not every environment has one.
"""

import sys
import sysconfig
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "src"
SCRIPT = """#!{python}
import sys

from arena_lab.cli import main

sys.exit(main())
"""


def link(python: Path, libraries: Path, scripts: Path) -> Path:
    """Returns the command."""
    (libraries / "arena_lab_client.pth").write_text(f"{SOURCE}\n", encoding="utf-8")
    command = scripts / "arena"
    command.write_text(SCRIPT.format(python=python), encoding="utf-8")
    command.chmod(0o755)
    return command


if __name__ == "__main__":
    link(Path(sys.executable), Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("scripts")))
