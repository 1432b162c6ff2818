"""An upload becomes records in a spool: samples, with the outputs of contestants that it holds, or outputs for samples
that are there.
"""

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from experiments.library.datasets.reader.card import Card, read_card
from experiments.library.datasets.reader.cells import (
    PictureCells,
    Place,
    checked_picture,
    fields_of,
    jsonable,
    number_of,
    text_of,
)
from experiments.library.datasets.reader.columns import (
    CONTESTANT_PARTS,
    OUTPUT_PARTS,
    OUTPUTS,
    PARTS,
    Mapped,
    columns_of,
    detect,
    settled,
    used,
)
from experiments.library.datasets.reader.limits import CannotRead, Limits
from experiments.library.datasets.reader.tables import Row, open_table
from experiments.library.datasets.reader.tree import Picture, Tree, is_version, pictures_of, subset_of, tables_of

RECORDS = "records.jsonl"
STEP = 0.01  # of the progress
LONGEST_RECORD = 32 << 20  # characters of one record
SEEN_FIRST = 20  # rows by which columns are recognised
LONGEST = {
    "category": 100, "source": 200, "language": 60, "subset": 100, "contestant": 200, "label": 200, "link": 200,
    "variant_of": 200, "base_model": 200, "released": 10, "quantization": 40, "upstream": 200, "prompt": 8000,
}  # fmt: skip


class Spool:
    """warnings count what was found odd, by code. say: tells the parent how far the reading is, 0 to 1. given: bytes
    that were sent.
    """

    def __init__(self, folder: Path, limits: Limits, pipe: int) -> None:
        self.folder, self.limits = folder, limits
        self.warnings: Counter[str] = Counter()
        self.given, self.taken = 0, 0
        self._records = (folder / RECORDS).open("w", encoding="utf-8")
        self._pipe, self._told = pipe, 0.0

    def add(self, kind: str, **fields: Any) -> None:
        line = json.dumps({"kind": kind, **fields}, ensure_ascii=False, allow_nan=False)
        if len(line) > LONGEST_RECORD:
            raise CannotRead("heavy_row", number=fields.get("index"), most=LONGEST_RECORD)
        self._take(len(line))
        self._records.write(f"{line}\n")

    def picture(self, data: bytes, **place: Any) -> str:
        """Its hash. place: what a complaint about it names. Raises CannotRead."""
        found = checked_picture(data, self.limits, **place)
        path = self.folder / str(found["sha256"])
        if not path.exists():
            self._take(len(data))
            path.write_bytes(data)
            self.add("picture", **found)
        return str(found["sha256"])

    def _take(self, count: int) -> None:
        """A table of a few megabytes may say the same text a million times. Raises CannotRead."""
        self.taken += count
        if self.taken > max(self.limits.taken, self.given * self.limits.ratio):
            raise CannotRead("swells", times=self.limits.ratio)

    def progress(self, share: float) -> None:
        if share - self._told >= STEP:
            self._told = share
            self.say(progress=round(share, 4))

    def say(self, **said: Any) -> None:
        os.write(self._pipe, json.dumps(said).encode() + b"\n")

    def close(self) -> None:
        self._records.close()


class Reader:
    """Reads all of a tree into a spool. asked: columns by part, where a person said them. mapped: which column of the
    present table is read as what; further: those that are read as nothing. needed: the parts, or alternatives, that a
    table must have, with the code of the refusal without them.
    """

    parts: ClassVar[Mapping[str, tuple[str, ...]]]

    def __init__(
        self, tree: Tree, spool: Spool, asked: Mapping[str, Any], needed: Mapping[tuple[str, ...], str]
    ) -> None:
        self.tree, self.spool, self.limits, self.asked, self.needed = tree, spool, spool.limits, asked, needed
        self.cells = PictureCells(tree, spool.limits)
        self.contestants: set[str] = set()
        self.mapped: Mapped = {}
        self.further: list[str] = []

    def rows(self, tables: list[str]) -> Iterator[tuple[Row, Place]]:
        """Every row of these tables. Raises CannotRead."""
        for position, name in enumerate(tables):
            with self.tree.on_disk(name) as path:
                table = open_table(path, name, self.limits)
                columns = columns_of(table, self.limits)
                if not columns and self.parts is PARTS:
                    raise CannotRead("empty_table", file=name)
                plain = [column.name for column in columns if not column.is_binary]
                self.mapped = settled(
                    self.asked, detect(columns, islice(table.rows(plain), SEEN_FIRST), self.parts), columns, name
                )
                for parts, code in self.needed.items():
                    if not any(self.mapped[part] for part in parts):
                        raise CannotRead(code, file=name, columns=", ".join(column.name for column in columns[:12]))
                wanted = used(self.mapped)
                self.further = [column for column in plain if column not in wanted] if self.parts is PARTS else []
                for number, row in enumerate(table.rows([*sorted(wanted), *self.further]), 1):
                    yield row, Place(name, number)
                    self.spool.progress((position + table.share) / len(tables))

    def text(self, row: Row, part: str, place: Place) -> str:
        column = self.mapped[part]
        text = text_of(row.get(column), place, column, LONGEST.get(part, self.limits.text)) if column else ""
        return text.strip() if part in LONGEST else text

    def pictures_in(self, row: Row, place: Place) -> list[bytes]:
        column = self.mapped["images"]
        return self.cells.of(row.get(column), place) if column else []

    def add_picture(self, picture: Picture, subset: str | None) -> None:
        """A contestant's picture becomes a record. Raises CannotRead naming its file."""
        self.check_contestant(picture.contestant)
        if self.tree.files[picture.file] > self.limits.picture:
            raise CannotRead("heavy_picture", file=picture.file, most=self.limits.picture)
        sha256 = self.spool.picture(self.tree.read(picture.file), file=picture.file)
        fields = {"contestant": picture.contestant, "version": picture.version}
        self.spool.add("output", subset=subset, index=picture.number, image=sha256, text="", **fields)

    def check_contestant(self, name: str) -> str:
        """The name, if it is one. Raises CannotRead."""
        if not name.strip() or len(name) > LONGEST["contestant"] or not name.isprintable():
            raise CannotRead("odd_contestant", contestant=name[:200])
        self.contestants.add(name)
        if len(self.contestants) > self.limits.contestants:
            raise CannotRead("many_contestants", most=self.limits.contestants)
        return name


class Samples(Reader):
    """subset: of everything, instead of what columns and folders say."""

    parts = PARTS

    def __init__(self, tree: Tree, spool: Spool, asked: Mapping[str, Any], subset: str) -> None:
        super().__init__(tree, spool, asked, {("instruction",): "no_instruction"})
        self._subset = subset
        self._card = read_card(tree)
        self._numbers: dict[str, set[int]] = {}
        self._count = 0

    def read(self) -> Mapped:
        """Which column was read as what. Raises CannotRead."""
        if self._card:
            return self._read_by_card(self._card)
        chosen = tables_of(self.tree.files)
        self.spool.warnings["ignored_tables"] += len(chosen.ignored)
        for row, place in self.rows(chosen.tables):
            self._add(row, place)
        if chosen.tables:
            pictures = pictures_of(self.tree.files, set(self._numbers), without=self.cells.folders)
        else:
            pictures = pictures_of(self.tree.files, None)
            self._number_samples(pictures)
        alone = next(iter(self._numbers)) if len(self._numbers) == 1 else ""
        for done, picture in enumerate(pictures, 1):
            subset = alone if picture.subset is None else picture.subset
            if picture.number in self._numbers.get(subset, ()):
                self.add_picture(picture, subset)
                self.spool.progress(done / len(pictures))
            else:
                self.spool.warnings["unknown_numbers"] += 1
        if not any(self._numbers.values()):
            raise CannotRead("no_samples")
        return self.mapped

    def _read_by_card(self, card: Card) -> Mapped:
        """The tables that a card names, and no other file but the pictures that they name."""
        for row, place in self.rows(list(card.tables)):
            self._add(row, place)
        if not any(self._numbers.values()):
            raise CannotRead("no_samples")
        if card.outputs:
            known = self._numbers
            Outputs(self.tree, self.spool, {}, subsets=known, contestant="", known=known).read(card.outputs)
        if card.contestants:
            Contestants(self.tree, self.spool, {}, {("contestant",): "no_contestant"}).read(card.contestants)
        return self.mapped

    def _add(self, row: Row, place: Place) -> None:
        of_file = self._card.tables[place.file] if self._card else subset_of(place.file)
        subset = _checked_subset(self._subset or self.text(row, "subset", place) or of_file)
        index = self._index(row, subset, place)
        hashes = [self.spool.picture(data, file=place.file, row=place.row) for data in self.pictures_in(row, place)]
        instruction = self.text(row, "instruction", place)
        self.spool.warnings["empty_instructions"] += not instruction.strip()
        outputs: dict[str, str] = {}
        told = {part: self.text(row, part, place) for part in ("category", "source", "language")}
        metadata = self._metadata(row)
        for contestant, column in (self.mapped.get(OUTPUTS) or {}).items():
            if text := text_of(row.get(column), place, column, self.limits.text):
                outputs[self.check_contestant(contestant)] = text
        self._add_sample(
            subset, index, instruction, **told, images=hashes, metadata=metadata, outputs=outputs,
        )  # fmt: skip

    def _add_sample(self, subset: str, index: int, instruction: str, **known: Any) -> None:
        blank = {"category": "", "source": "", "language": "", "images": [], "metadata": {}, "outputs": {}}
        self.spool.add("sample", subset=subset, index=index, instruction=instruction, **{**blank, **known})

    def _index(self, row: Row, subset: str, place: Place) -> int:
        numbers = self._numbers.setdefault(subset, set())
        column = self.mapped["index"]
        index = number_of(row.get(column), place, column) if column else len(numbers)
        if index in numbers:
            raise place.refusal("number_twice", number=index, column=column)
        self._count += 1
        if self._count > self.limits.samples:
            raise CannotRead("many_samples", most=self.limits.samples)
        numbers.add(index)
        return index

    def _metadata(self, row: Row) -> dict[str, Any]:
        column = self.mapped["metadata"]
        fields = fields_of(row.get(column)) if column else {}
        for name in self.further:
            value = row.get(name)
            if value is not None and value != "" and not isinstance(value, dict | list | bytes):
                fields.setdefault(str(jsonable(name)), jsonable(value))
        if len(str(fields)) <= self.limits.metadata:
            return fields
        self.spool.warnings["long_metadata"] += 1
        return {}

    def _number_samples(self, pictures: list[Picture]) -> None:
        """Samples of which nothing is known but that contestants have made something of them."""
        found = sorted({(_checked_subset(picture.subset or self._subset), picture.number) for picture in pictures})
        self.spool.warnings["no_table"] += bool(found)
        for subset, number in found:
            self._numbers.setdefault(subset, set()).add(number)
            self._add_sample(subset, number, "")


class Outputs(Reader):
    """subsets: those of the dataset. contestant: whose everything is, where it is not said. known: the numbers of
    samples by subset, where outputs of others are left out.
    """

    parts = OUTPUT_PARTS

    def __init__(
        self,
        tree: Tree,
        spool: Spool,
        asked: Mapping[str, Any],
        *,
        subsets: Collection[str],
        contestant: str,
        known: Mapping[str, Collection[int]] | None = None,
    ) -> None:
        needed = {("index",): "no_index", ("contestant",): "no_contestant", ("text", "images"): "no_text"}
        if contestant:
            needed.pop(("contestant",))
        super().__init__(tree, spool, asked, needed)
        self._subsets, self._contestant, self._known = set(subsets), contestant, known
        self._seen: set[tuple[str | None, int, str]] = set()

    def read(self, tables: list[str] | None = None) -> Mapped:
        """Which column was read as what. tables: those of a card, beside which no folder is looked for. Raises
        CannotRead.
        """
        for row, place in self.rows(tables_of(self.tree.files).tables if tables is None else tables):
            self._add(row, place)
        if tables is not None:
            return self.mapped
        pictures = pictures_of(self.tree.files, self._subsets, self._contestant, self.cells.folders)
        for done, picture in enumerate(pictures, 1):
            self.add_picture(picture, picture.subset)
            self.spool.progress(done / len(pictures))
        if not self.contestants:
            raise CannotRead("no_outputs")
        return self.mapped

    def _add(self, row: Row, place: Place) -> None:
        contestant = self._contestant or self.text(row, "contestant", place)
        if not contestant:
            raise place.refusal("nameless")
        self.check_contestant(contestant)
        index = number_of(row.get(self.mapped["index"]), place, self.mapped["index"])
        subset = self.text(row, "subset", place) if self.mapped["subset"] else None
        if (subset, index, contestant) in self._seen:
            raise place.refusal("output_twice", number=index, contestant=contestant)
        self._seen.add((subset, index, contestant))
        if self._known is not None and index not in self._known.get(subset or "", ()):
            self.spool.warnings["unknown_numbers"] += 1
            return
        text, image = self.text(row, "text", place), ""
        if not text and (found := self.pictures_in(row, place)):
            if len(found) > 1:
                raise place.refusal("many_pictures", most=1)
            image = self.spool.picture(found[0], file=place.file, row=place.row)
        if not text and not image:
            self.spool.warnings["empty_outputs"] += 1
            return
        version = self.text(row, "version", place)
        version = version if is_version(version) else ""
        fields = {"contestant": contestant, "version": version, "text": text, "image": image}
        self.spool.add("output", subset=subset, index=index, **fields)


class Contestants(Reader):
    """How contestants are shown, and what their register knows."""

    parts = CONTESTANT_PARTS

    def read(self, tables: list[str]) -> None:
        for row, place in self.rows(tables):
            told = {part: self.text(row, part, place) for part in CONTESTANT_PARTS}
            name = self.check_contestant(told.pop("contestant"))
            self.spool.add("contestant", name=name, **told)


def _checked_subset(name: str) -> str:
    """The name, if it is one. Raises CannotRead."""
    if len(name) > LONGEST["subset"] or not name.isprintable():
        raise CannotRead("odd_subset", subset=name[:200])
    return name
