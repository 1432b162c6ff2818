"""Where in a program the thing to call stands."""

import _symtable  # type: ignore[import-not-found]  # has no stub; `symtable` would import more
from builtins import any, callable, dict, getattr, isinstance, issubclass, len, type  # noqa: UP029 — held from before the program can change them

BOUND = _symtable.DEF_LOCAL | _symtable.DEF_IMPORT


class NotCallable(Exception):
    """The name is there, but nothing that can be called; the message says so."""


def is_named(source: str, filename: str, entry: str) -> bool:
    """Whether the program's text binds the name at its top, or as a method of a class at its top."""
    top = _symtable.symtable(source, filename, "exec")
    classes = [table for table in top.children if table.type == _symtable.TYPE_CLASS]
    return any(table.symbols.get(entry, 0) & BOUND for table in [top, *classes])


def entry_in(namespace: "dict[str, object]", entry: str) -> object:
    """What is to be called, None when the name is nowhere. Raises NotCallable."""
    if entry in namespace:
        found = namespace[entry]
        if isinstance(found, type) and callable(getattr(found, entry, None)):
            return getattr(found(), entry)  # a class that is called like its method
        if not callable(found):
            raise NotCallable(f"{entry} is not a function")
        return found
    return method_in(namespace, entry)


def method_in(namespace: "dict[str, object]", entry: str) -> object:
    """The method of `Solution`, or of the one class that has it; of a class and those derived from it, of the last."""
    module = namespace["__name__"]
    mine = [value for value in namespace.values() if isinstance(value, type) and value.__module__ == module]
    owners = [kind for kind in dict.fromkeys(mine) if callable(getattr(kind, entry, None))]
    chosen = [kind for kind in owners if kind.__name__ == "Solution"] or last_of(owners)
    if len(chosen) > 1:
        raise NotCallable(f"{len(chosen)} classes have a method {entry}; call one of them Solution")
    return getattr(chosen[0](), entry) if chosen else None


def last_of(kinds: "list[type]") -> "list[type]":
    return [kind for kind in kinds if not any(other is not kind and issubclass(other, kind) for other in kinds)]
