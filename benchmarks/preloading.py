"""Small libraries in C that are built here and preloaded into the processes of a platform."""

import shutil
import subprocess
from pathlib import Path


class NoCompiler(Exception):
    """There is no C compiler."""


def build(source: Path, folder: Path) -> Path:
    """The library, in the folder. Raises NoCompiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise NoCompiler(f"{source.name} needs a C compiler (Debian: apt install gcc libc6-dev).")
    library = folder / source.with_suffix(".so").name
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library
