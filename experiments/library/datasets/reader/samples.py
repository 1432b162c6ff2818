"""An upload becomes samples, with whatever outputs of contestants it holds."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from experiments.library.datasets.reader.cells import PictureCells, Place, fields_of, jsonable, number_of, text_of
from experiments.library.datasets.reader.choosing import Picture, pictures_of, tables_of
from experiments.library.datasets.reader.columns import OUTPUTS, Mapped, columns_of, detect, settled, used
from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.names import subset_of
from experiments.library.datasets.reader.objects import Row
from experiments.library.datasets.reader.spool import Spool
from experiments.library.datasets.reader.tables import Table, open_table
from experiments.library.datasets.reader.trees import Tree

SEEN_FIRST = 20  # rows by which columns are recognised
LONGEST = {"category": 100, "source": 200, "subset": 100}


class Samples:
    """Reads all of a tree. asked: columns by part; subset: of everything, instead of what columns and folders say."""

    def __init__(self, tree: Tree, spool: Spool, asked: Mapping[str, Any], subset: str) -> None:
        self._tree, self._spool, self._asked, self._subset = tree, spool, asked, subset
        self._limits = spool.limits
        self._cells = PictureCells(tree, self._limits)
        self._numbers: dict[str, set[int]] = {}
        self._count = 0
        self._contestants: set[str] = set()
        self._mapped: Mapped = {}

    def read(self) -> Mapped:
        """Which column was read as what. Raises CannotRead."""
        chosen = tables_of(self._tree.files)
        self._spool.warnings["ignored_tables"] += len(chosen.ignored)
        for position, name in enumerate(chosen.tables):
            with self._tree.on_disk(name) as path:
                self._read_table(
                    open_table(path, name, self._limits), position / len(chosen.tables), len(chosen.tables)
                )
        if chosen.tables:
            pictures = pictures_of(self._tree.files, set(self._numbers), without=self._cells.folders)
        else:
            pictures = pictures_of(self._tree.files, None)
            self._number_samples(pictures)
        self._read_pictures(pictures)
        if not any(self._numbers.values()):
            raise CannotRead("no_samples")
        return self._mapped

    def _read_table(self, table: Table, before: float, tables: int) -> None:
        columns = columns_of(table, self._limits)
        if not columns:
            raise CannotRead("empty_table", file=table.file)
        names = [column.name for column in columns]
        plain = [column.name for column in columns if not column.is_binary]
        self._mapped = settled(self._asked, detect(columns, _first(table, plain)), columns, table.file)
        if not self._mapped["instruction"]:
            raise CannotRead("no_instruction", file=table.file, columns=", ".join(names[:12]))
        wanted = used(self._mapped)
        further = [name for name in plain if name not in wanted]
        for number, row in enumerate(table.rows([*sorted(wanted), *further]), 1):
            self._add(row, Place(table.file, number), further)
            self._spool.progress(before + table.share / tables)

    def _add(self, row: Row, place: Place, further: list[str]) -> None:
        subset = check_subset(self._subset or self._text(row, "subset", place) or subset_of(place.file))
        index = self._index(row, subset, place)
        pictures = self._cells.of(row.get(self._mapped["images"]), place) if self._mapped["images"] else []
        hashes = [self._spool.picture(data, file=place.file, row=place.row) for data in pictures]
        instruction = self._text(row, "instruction", place)
        self._spool.warnings["empty_instructions"] += not instruction.strip()
        self._spool.add(
            "sample",
            subset=subset,
            index=index,
            category=self._text(row, "category", place),
            instruction=instruction,
            images=hashes,
            source=self._text(row, "source", place),
            metadata=self._further(row, further),
            outputs=dict(self._outputs(row, place)),
        )

    def _index(self, row: Row, subset: str, place: Place) -> int:
        numbers = self._numbers.setdefault(subset, set())
        column = self._mapped["index"]
        index = number_of(row.get(column), place, column) if column else len(numbers)
        if index in numbers:
            raise place.refusal("number_twice", number=index, column=column)
        self._count += 1
        if self._count > self._limits.samples:
            raise CannotRead("many_samples", most=self._limits.samples)
        numbers.add(index)
        return index

    def _text(self, row: Row, part: str, place: Place) -> str:
        column = self._mapped[part]
        if not column:
            return ""
        text = text_of(row.get(column), place, column, LONGEST.get(part, self._limits.text))
        return text.strip() if part in LONGEST else text

    def _further(self, row: Row, further: list[str]) -> dict[str, Any]:
        column = self._mapped["metadata"]
        fields = fields_of(row.get(column)) if column else {}
        for name in further:
            value = row.get(name)
            if value is not None and value != "" and not isinstance(value, dict | list | bytes):
                fields.setdefault(str(jsonable(name)), jsonable(value))
        if len(str(fields)) <= self._limits.metadata:
            return fields
        self._spool.warnings["long_metadata"] += 1
        return {}

    def _outputs(self, row: Row, place: Place) -> Iterator[tuple[str, str]]:
        for contestant, column in (self._mapped.get(OUTPUTS) or {}).items():
            if text := text_of(row.get(column), place, column, self._limits.text):
                yield check_contestant(contestant, self._contestants, self._limits.contestants), text

    def _number_samples(self, pictures: list[Picture]) -> None:
        """Samples of which nothing is known but that contestants have made something of them."""
        found = sorted({(check_subset(picture.subset or self._subset), picture.number) for picture in pictures})
        self._spool.warnings["no_table"] += bool(found)
        for subset, number in found:
            self._numbers.setdefault(subset, set()).add(number)
            blank = {"category": "", "instruction": "", "images": [], "source": "", "metadata": {}, "outputs": {}}
            self._spool.add("sample", subset=subset, index=number, **blank)

    def _read_pictures(self, pictures: list[Picture]) -> None:
        alone = next(iter(self._numbers)) if len(self._numbers) == 1 else ""
        for done, picture in enumerate(pictures, 1):
            subset = alone if picture.subset is None else picture.subset
            if picture.number not in self._numbers.get(subset, ()):
                self._spool.warnings["unknown_numbers"] += 1
                continue
            check_contestant(picture.contestant, self._contestants, self._limits.contestants)
            add_picture(self._tree, self._spool, picture, subset)
            self._spool.progress(done / len(pictures))


def add_picture(tree: Tree, spool: Spool, picture: Picture, subset: str | None) -> None:
    """A contestant's picture becomes a record. Raises CannotRead naming its file."""
    if tree.files[picture.file] > spool.limits.picture:
        raise CannotRead("heavy_picture", file=picture.file, most=spool.limits.picture)
    sha256 = spool.picture(tree.read(picture.file), file=picture.file)
    fields = {"contestant": picture.contestant, "version": picture.version}
    spool.add("output", subset=subset, index=picture.number, image=sha256, text="", **fields)


def check_contestant(name: str, known: set[str], most: int) -> str:
    """The name, if it is one. Raises CannotRead."""
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise CannotRead("odd_contestant", contestant=name[:200])
    known.add(name)
    if len(known) > most:
        raise CannotRead("many_contestants", most=most)
    return name


def check_subset(name: str) -> str:
    """The name, if it is one. Raises CannotRead."""
    if len(name) > LONGEST["subset"] or not name.isprintable():
        raise CannotRead("odd_subset", subset=name[:200])
    return name


def _first(table: Table, columns: list[str]) -> list[Row]:
    rows = list(islice(table.rows(columns), SEEN_FIRST))
    table.share = 0.0
    return rows
