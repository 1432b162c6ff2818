"""Looks for inputs that break or slow a reader, guided by the code they reach: `make fuzz`, or

    python -m tests.fuzzing.guided [--seconds 60] [--keep FOLDER] [TARGET…]

Each target has a process and its time. What broke is minimised and kept in FOLDER/TARGET; put it under
tests/fuzzing/regressions/TARGET with the repair. The slowest inputs are repeated to 100 kB and read once more, by the
reader alone and without counting code: that is the figure at the end. Exit code 1 when something broke.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import django

from benchmarks.inputs import measured
from tests.fuzzing.hostile import repeated
from tests.fuzzing.target import Target, breaks, minimised

GRACE = 120  # seconds beyond its time after which a hunt is ended
EDGES = re.compile(r"cov: (\d+)")
LINE = "{:20} {:>10} {:>8} {:>7} {:>10} {:>8}"


def main() -> int:
    from tests.fuzzing.targets import ALL  # noqa: PLC0415 - after the set-up

    asked = argparse.ArgumentParser(prog="python -m tests.fuzzing.guided")
    asked.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(ALL)}; all of them unless named")
    asked.add_argument("--seconds", type=int, default=60, help="for each target")
    asked.add_argument("--keep", type=Path, default=Path("var/fuzzing"), help="where the corpus and finds are kept")
    options = asked.parse_args()
    print(LINE.format("target", "executions", "seconds", "edges", "ms/100 kB", "broken"))
    return max([hunt(ALL[name], options.seconds, options.keep) for name in options.targets or ALL])


def hunt(target: Target, seconds: int, keep: Path) -> int:
    folder = keep / target.name
    sow(target, folder)
    command = [sys.executable, "-m", "tests.fuzzing.hunt", target.name, str(folder), str(seconds)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds + GRACE)
        said = ended.stderr
    except subprocess.TimeoutExpired as late:
        said = (late.stderr or b"").decode(errors="replace")
        print(f"{target.name}: an input took more than {GRACE} seconds", flush=True)
    if not (folder / "told.json").exists():
        print(f"{target.name}: {said[-2000:]}")
        return 1
    told = json.loads((folder / "told.json").read_text())
    edges = max(map(int, EDGES.findall(said)), default=0)
    slowest = max((measured(target.read, repeated(bytes.fromhex(data)))[0] for data in told["slow"]), default=0.0)
    found = (target.name, told["executions"], f"{told['seconds']:.0f}", edges, f"{slowest:.0f}", len(told["broke"]))
    print(LINE.format(*found), flush=True)
    for where, name in told["broke"].items():
        shortest = minimised(target.check, (folder / name).read_bytes())
        (folder / name).write_bytes(shortest)
        how = breaks(target.check, shortest) or where
        print(f"{'':20} {how}: {folder / name}, {len(shortest)} bytes: {shortest[:80]!r}")
    return 1 if told["broke"] else 0


def sow(target: Target, folder: Path) -> None:
    """The corpus begins with the seeds and what broke the reader before; its words are those of the target."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    (folder / "told.json").unlink(missing_ok=True)
    for number, data in enumerate((*target.seeds, *(path.read_bytes() for path in target.regressions))):
        (corpus / f"seed-{number}").write_bytes(data)
    words = [*target.pieces, *(json.dumps(name).encode() for name in target.names)]
    escaped = ("".join(f"\\x{byte:02x}" for byte in word[:60]) for word in words)
    (folder / "words").write_text("".join(f'"{word}"\n' for word in escaped if word))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="arena-fuzzing-") as data_folder:
        os.environ |= {"ARENA_DATA": data_folder, "DJANGO_SETTINGS_MODULE": "arenasite.settings"}
        sys.path.insert(0, "client/src")
        django.setup()
        code = main()
    sys.exit(code)
