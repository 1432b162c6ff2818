"""An upload becomes outputs of contestants for samples that are there already."""

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

from experiments.library.datasets.reader.cells import PictureCells, Place, number_of, text_of
from experiments.library.datasets.reader.choosing import pictures_of, tables_of
from experiments.library.datasets.reader.columns import OUTPUT_PARTS, Mapped, columns_of, detect, settled, used
from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.objects import Row
from experiments.library.datasets.reader.samples import SEEN_FIRST, add_picture, check_contestant
from experiments.library.datasets.reader.spool import Spool
from experiments.library.datasets.reader.tables import Table, open_table
from experiments.library.datasets.reader.trees import Tree


class Outputs:
    """Reads all of a tree. subsets: those of the dataset. contestant: whose everything is, where it is not said."""

    def __init__(
        self, tree: Tree, spool: Spool, asked: Mapping[str, Any], *, subsets: Collection[str], contestant: str
    ) -> None:
        self._tree, self._spool, self._asked = tree, spool, asked
        self._subsets, self._contestant = set(subsets), contestant
        self._cells = PictureCells(tree, spool.limits)
        self._seen: set[tuple[str | None, int, str]] = set()
        self._contestants: set[str] = set()
        self._mapped: Mapped = {}

    def read(self) -> Mapped:
        """Which column was read as what. Raises CannotRead."""
        tables = tables_of(self._tree.files).tables
        for position, name in enumerate(tables):
            with self._tree.on_disk(name) as path:
                self._read_table(open_table(path, name, self._spool.limits), position / len(tables), len(tables))
        pictures = pictures_of(self._tree.files, self._subsets, self._contestant, self._cells.folders)
        for done, picture in enumerate(pictures, 1):
            check_contestant(picture.contestant, self._contestants, self._spool.limits.contestants)
            add_picture(self._tree, self._spool, picture, picture.subset)
            self._spool.progress(done / len(pictures))
        if not self._contestants:
            raise CannotRead("no_outputs")
        return self._mapped

    def _read_table(self, table: Table, before: float, tables: int) -> None:
        columns = columns_of(table, self._spool.limits)
        plain = [column.name for column in columns if not column.is_binary]
        first = list(islice(table.rows(plain), SEEN_FIRST))
        self._mapped = settled(self._asked, detect(columns, first, OUTPUT_PARTS), columns, table.file)
        self._refuse_lacking(table, [column.name for column in columns])
        for number, row in enumerate(table.rows(sorted(used(self._mapped))), 1):
            self._add(row, Place(table.file, number))
            self._spool.progress(before + table.share / tables)

    def _refuse_lacking(self, table: Table, columns: list[str]) -> None:
        listed = ", ".join(columns[:12])
        if not self._mapped["index"]:
            raise CannotRead("no_index", file=table.file, columns=listed)
        if not self._mapped["contestant"] and not self._contestant:
            raise CannotRead("no_contestant", file=table.file, columns=listed)
        if not self._mapped["text"] and not self._mapped["images"]:
            raise CannotRead("no_text", file=table.file, columns=listed)

    def _add(self, row: Row, place: Place) -> None:
        contestant = self._contestant or self._text(row, "contestant", place, 200).strip()
        if not contestant:
            raise place.refusal("nameless")
        check_contestant(contestant, self._contestants, self._spool.limits.contestants)
        index = number_of(row.get(self._mapped["index"]), place, self._mapped["index"])
        subset = self._text(row, "subset", place, 100).strip() if self._mapped["subset"] else None
        if (subset, index, contestant) in self._seen:
            raise place.refusal("output_twice", number=index, contestant=contestant)
        self._seen.add((subset, index, contestant))
        text = self._text(row, "text", place, self._spool.limits.text) if self._mapped["text"] else ""
        image = "" if text else self._picture(row, place)
        if not text and not image:
            self._spool.warnings["empty_outputs"] += 1
            return
        told = {"contestant": contestant, "version": "", "text": text, "image": image}
        self._spool.add("output", subset=subset, index=index, **told)

    def _text(self, row: Row, part: str, place: Place, most: int) -> str:
        column = self._mapped[part]
        return text_of(row.get(column), place, column, most) if column else ""

    def _picture(self, row: Row, place: Place) -> str:
        column = self._mapped["images"]
        found = self._cells.of(row.get(column), place) if column else []
        if len(found) > 1:
            raise place.refusal("many_pictures", most=1)
        return self._spool.picture(found[0], file=place.file, row=place.row) if found else ""
