"""Small changes to one line of a function, each of which a test should notice.

Left alone are texts for people (translated ones, log messages, f-strings, sentences, whatever is raised), and arguments
that no test could notice (UNNOTICED).
"""

import ast
import copy
import difflib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from random import Random
from types import CodeType

OTHER_COMPARISON: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OTHER_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitAnd: ast.BitOr,  # how Q objects are joined
    ast.BitOr: ast.BitAnd,
}
FOR_PEOPLE = {"_", "gettext", "ngettext", "pgettext", "gettext_lazy", "ngettext_lazy", "pgettext_lazy", "gettext_noop"}
LOGGERS = {"log", "logger"}
NO_BEHAVIOUR = {"annotation", "returns", "decorator_list"}
FEW_WORDS = 3  # a text of more of them is a sentence
# Arguments, by their name and the function that takes them: how many rows are fetched at a time, how a thread is called
# in a debugger, and that lists which are equally long by what has made them are checked to be so.
UNNOTICED = {("chunk_size", "iterator"), ("thread_name_prefix", "ThreadPoolExecutor"), ("strict", "zip")}

# A function of a module: its first line and its qualified name.
Key = tuple[int, str]


@dataclass(frozen=True, eq=False)
class Change:
    """`old`, which is `field` of `parent` (its `index`-th item, where that is a list), becomes `new`."""

    line: int
    statement: int  # the first line of the statement that the line belongs to
    parent: ast.AST
    field: str
    index: int | None
    old: ast.expr | ast.stmt
    new: ast.AST

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


class Source:
    def __init__(self, path: Path, text: str | None = None) -> None:
        self.path = path
        self.text = path.read_text() if text is None else text
        self.tree = ast.parse(self.text)

    @cached_property
    def changes(self) -> dict[int, list[Change]]:
        """Those that are possible, by their line."""
        found: dict[int, list[Change]] = {}
        for change in _within(self.tree, statement=0, in_function=False):
            found.setdefault(change.line, []).append(change)
        return found

    def drawn(self, seed: int, name: str) -> Iterator[tuple[str, int]]:
        """A place in the order of all lines, and the line, for each that can be changed. It depends on what the line
        says, not on where it is: after a change to the code elsewhere, the sample is the same.
        """
        seen, texts = Counter[str](), self.text.splitlines()
        for line in sorted(self.changes):
            text = texts[line - 1].strip()
            seen[text] += 1
            yield sha256(f"{seed} {name} {text} {seen[text]}".encode()).hexdigest(), line

    def change_of(self, line: int, drawn: str) -> Change | None:
        """One change to the line that alters the program. None: there is none."""
        candidates = list(self.changes[line])
        Random(drawn).shuffle(candidates)
        return next((change for change in candidates if self.altered(change)), None)

    def lines_of(self, change: Change) -> tuple[str, str]:
        """What the line says before and after, without indentation; of several lines the first."""
        changed = self.diff(change, "").splitlines()[3:]
        before, after = (next(line for line in changed if line.startswith(sign)) for sign in "-+")
        return before[1:].strip(), after[1:].strip()

    def altered(self, change: Change) -> dict[Key, CodeType]:
        """The functions that are others after the change. Empty: none is, or one cannot be exchanged."""
        change.put(change.new)
        try:
            functions = self._functions()
        finally:
            change.put(change.old)
        altered = {key: code for key, code in functions.items() if code != self._unaltered.get(key)}
        same_cells = (code.co_freevars == self._unaltered[key].co_freevars for key, code in altered.items())
        return altered if all(same_cells) else {}

    def diff(self, change: Change, name: str) -> str:
        before = self.text.splitlines(keepends=True)
        old, new = change.old, ast.unparse(change.new)
        if isinstance(old, ast.UnaryOp) and isinstance(change.new, ast.BoolOp):
            new = f"({new})"
        begin = before[old.lineno - 1].encode()[: old.col_offset].decode()
        end = before[(old.end_lineno or 0) - 1].encode()[old.end_col_offset :].decode()
        after = [*before[: old.lineno - 1], begin + new + end, *before[old.end_lineno :]]
        return "".join(difflib.unified_diff(before, after, f"{name}:{change.line}", "changed", n=2))

    @cached_property
    def _unaltered(self) -> dict[Key, CodeType]:
        return self._functions()

    def _functions(self) -> dict[Key, CodeType]:
        found: dict[Key, CodeType] = {}
        waiting = [compile(self.tree, str(self.path), "exec", dont_inherit=True)]
        while waiting:
            code = waiting.pop()
            waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
            if not code.co_name.startswith("<"):  # comprehensions and the like come with the function around them
                found[code.co_firstlineno, code.co_qualname] = code
        return found


def _within(node: ast.AST, statement: int, in_function: bool) -> Iterator[Change]:
    for field, index, child in _children(node):
        line = child.lineno if isinstance(child, ast.stmt) else statement
        if in_function and isinstance(child, ast.expr | ast.stmt):
            for new in _replacements(node, field, child):
                ast.fix_missing_locations(ast.copy_location(new, child))
                yield Change(child.lineno, line, node, field, index, child, new)
        inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _within(child, line, inside or (in_function and not isinstance(child, ast.ClassDef)))


def _children(node: ast.AST) -> Iterator[tuple[str, int | None, ast.AST]]:
    if isinstance(node, ast.arguments | ast.JoinedStr | ast.Raise) or (isinstance(node, ast.Call) and _is_text(node)):
        return
    for field, value in ast.iter_fields(node):
        if field in NO_BEHAVIOUR:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not _is_docstring(child) and not _is_unnoticed(node, child):
                yield field, index, child


def _is_text(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id=name):
            return name in FOR_PEOPLE
        case ast.Attribute(value=ast.Name(id=name)):
            return name in LOGGERS
    return False


def _is_unnoticed(node: ast.AST, child: ast.AST) -> bool:
    match node, child:
        case ast.Call(func=ast.Name(id=taker) | ast.Attribute(attr=taker)), ast.keyword(arg=argument):
            return (argument, taker) in UNNOTICED
    return False


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _replacements(parent: ast.AST, field: str, node: ast.expr | ast.stmt) -> Iterator[ast.AST]:
    if (field, type(parent)) in {("test", ast.If), ("test", ast.IfExp)} or field == "ifs":
        yield ast.Constant(True)
        yield ast.Constant(False)
    match node:
        case ast.Compare():
            for number, operator in enumerate(node.ops):
                other = OTHER_COMPARISON[type(operator)]()
                yield ast.Compare(node.left, [*node.ops[:number], other, *node.ops[number + 1 :]], node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            yield node.operand
        case ast.BinOp() | ast.AugAssign() if type(node.op) in OTHER_OPERATOR:
            changed = copy.copy(node)
            changed.op = OTHER_OPERATOR[type(node.op)]()
            yield changed
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=str(value)) if len(value.split()) <= FEW_WORDS:
            yield ast.Constant(value + "x")
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):  # which has its own changes
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call(func) | ast.Await(ast.Call(func))) if not _is_text(ast.Call(func, [], [])):
            yield ast.Pass()
