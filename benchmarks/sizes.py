"""`make sizes`: how large the project is, and into how many pieces it is cut. Product: without tests and migrations.

`python -m benchmarks.sizes FOLDER…` counts these folders alone, each with what is below it.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

ROOT = Path(__file__).parents[1]
PRODUCT = ("arenasite", "accounts", "experiments", "leaderboard")
BESIDE = ("client/src", "benchmarks", "tests")
UNTYPED = "dict[str, Any]"
WIDE = 120  # characters of a template's line
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Package:
    """What is counted in a folder; lines as `wc -l` counts them."""

    files: list[int] = field(default_factory=list)  # lines of each
    functions: list[int] = field(default_factory=list)  # lines of each
    imports: list[int] = field(default_factory=list)  # of each file
    private: int = 0  # functions whose name begins with an underscore
    called_once: int = 0  # of these: named once in their own file, but for the definition
    public: int = 0  # functions and classes without an underscore
    explained: int = 0  # of these: with a docstring
    untyped: int = 0  # `dict[str, Any]` anywhere
    across: int = 0  # `dict[str, Any]` in what others may call: signatures and fields without an underscore

    def __iadd__(self, other: "Package") -> "Package":
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self


def measured(folder: str) -> Package:
    """Of all Python files in a folder of the project, migrations left out."""
    package = Package()
    for path in sorted((ROOT / folder).rglob("*.py")):
        if "migrations" not in path.parts:
            package += _of_file(path.read_text())
    return package


def _of_file(source: str) -> Package:
    try:
        tree = ast.parse(source)
    except SyntaxError:  # programs that a test runs in the sandbox
        return Package(files=[source.count("\n")])
    nodes = list(ast.walk(tree))
    functions = [node for node in nodes if isinstance(node, Function)]
    definitions = [node for node in nodes if isinstance(node, Function | ast.ClassDef)]
    named = Counter(node.id if isinstance(node, ast.Name) else node.attr for node in nodes if _names(node))
    private = [node for node in functions if node.name.startswith("_") and not node.name.endswith("__")]
    public = [node for node in definitions if not node.name.startswith("_")]
    return Package(
        files=[source.count("\n")],
        functions=[_lines(node) for node in functions],
        imports=[sum(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)],
        private=len(private),
        called_once=sum(named[node.name] == 1 for node in private),
        public=len(public),
        explained=sum(ast.get_docstring(node) is not None for node in public),
        untyped=sum(_is_untyped(node) for node in nodes),
        across=sum(_is_untyped(part) for node in public for seam in _seams(node) for part in ast.walk(seam)),
    )


def _names(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)


def _lines(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _is_untyped(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and ast.unparse(node) == UNTYPED


def _seams(node: Function | ast.ClassDef) -> Iterator[ast.expr]:
    if isinstance(node, ast.ClassDef):
        yield from (line.annotation for line in node.body if isinstance(line, ast.AnnAssign))
        return
    given = node.args
    for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if argument and argument.annotation:
            yield argument.annotation
    if node.returns:
        yield node.returns


def spread(sizes: Sequence[int]) -> str:
    """Median, nine tenths and the largest."""
    if len(sizes) < 2:
        return "/".join([str(*sizes)] * 3) if sizes else "-"
    tenths = quantiles(sizes, n=10, method="inclusive")
    return f"{tenths[4]:.0f}/{tenths[8]:.0f}/{max(sizes)}"


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _row(name: str, package: Package) -> str:
    per_thousand = 1000 * len(package.functions) / max(1, sum(package.files))
    cells = (
        f"{name:<14}{len(package.files):>6}{sum(package.files):>9,}{spread(package.files):>14}",
        f"{len(package.functions):>7,}{spread(package.functions):>11}{per_thousand:>6.0f}",
        f"{share(package.called_once, package.private):>7}{spread(package.imports):>9}",
        f"{share(package.explained, package.public):>7}{package.untyped:>6}{package.across:>7}",
    )
    return "".join(cells)


def main() -> None:
    print(
        "              files    lines   p50/p90/max functions   p50/…   per  called  imports   docs   dict[str, Any]\n"
        "                                                              1,000    once   a file strings   all across"
    )
    for folder in sys.argv[1:]:
        print(_row(folder.removeprefix("experiments/"), measured(folder)))
    if sys.argv[1:]:
        return
    product = Package()
    for folder in PRODUCT:
        package = measured(folder)
        product += package
        print(_row(folder, package))
    print(_row("product", product))
    for folder in BESIDE:
        print(_row(folder, measured(folder)))
    templates = [path.read_text().splitlines() for path in (ROOT / "templates").rglob("*.*")]
    wide = sum(len(line) > WIDE for lines in templates for line in lines)
    lines = sum(map(len, templates))
    print(f"templates     {len(templates):>6}{lines:>9,} lines, {wide} longer than {WIDE} characters")
    for kind in ("js", "css"):
        files = [len(path.read_text().splitlines()) for path in (ROOT / "static").rglob(f"*.{kind}")]
        print(f"static/*.{kind:<5}{len(files):>6}{sum(files):>9,} lines")


if __name__ == "__main__":
    main()
