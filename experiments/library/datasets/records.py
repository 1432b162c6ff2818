"""What the limited process has found, line by line, checked again: a process that reads strangers' files is none to
be trusted.
"""

import json
import os
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from experiments.engine.text import storable_data
from experiments.library.datasets.process import Refused
from experiments.models import Image

RECORDS = "records.jsonl"
LONGEST = 64 << 20  # characters of one record
Hash = Annotated[str, StringConstraints(pattern=re.compile(r"^[0-9a-f]{64}$"))]
Number = Annotated[int, Field(ge=0, lt=2**31)]
Side = Annotated[int, Field(ge=1, le=100_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Subset = Annotated[str, StringConstraints(max_length=100)]


class Picture(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal["picture"]
    sha256: Hash
    mime: Literal["image/png", "image/jpeg", "image/webp", "image/gif"]
    width: Side
    height: Side
    size: Annotated[int, Field(ge=1)]

    @property
    def weight(self) -> int:
        """It is copied, which takes less than a text does to be stored."""
        return self.size // 8

    @property
    def row(self) -> Image:
        return Image(**self.model_dump(exclude={"kind"}))


class SampleRecord(BaseModel):
    """outputs: texts by contestant."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["sample"]
    subset: Subset
    index: Number
    category: Annotated[str, StringConstraints(max_length=100)]
    instruction: str
    images: list[Hash]
    source: Annotated[str, StringConstraints(max_length=200)]
    language: Annotated[str, StringConstraints(max_length=60)] = ""
    metadata: dict[str, object]
    outputs: dict[Name, str]

    @property
    def weight(self) -> int:
        """Characters of its texts."""
        return len(self.instruction) + sum(map(len, self.outputs.values()))


class OutputRecord(BaseModel):
    """subset None: it is not said. image: a hash, or empty."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["output"]
    subset: Subset | None
    index: Number
    contestant: Name
    version: Annotated[str, StringConstraints(max_length=120)]
    text: str
    image: Hash | Literal[""]

    @property
    def weight(self) -> int:
        return len(self.text)


class ContestantRecord(BaseModel):
    """How a contestant is shown, and what its register knows; variant_of: a name, or empty."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["contestant"]
    name: Name
    label: Annotated[str, StringConstraints(max_length=200)]
    link: Annotated[str, StringConstraints(max_length=200, pattern=re.compile(r"^(https?://\S+)?$"))]
    variant_of: Annotated[str, StringConstraints(max_length=200)]
    base_model: Annotated[str, StringConstraints(max_length=200)]
    released: date | Literal[""]
    quantization: Annotated[str, StringConstraints(max_length=40)]
    upstream: Annotated[str, StringConstraints(max_length=200)]
    prompt: Annotated[str, StringConstraints(max_length=8000)]

    @property
    def weight(self) -> int:
        return len(self.prompt)


AnyRecord = Picture | SampleRecord | OutputRecord | ContestantRecord
Record = Annotated[AnyRecord, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[AnyRecord] = TypeAdapter(Record)


def records_in(spool: Path) -> Iterator[AnyRecord]:
    """Raises Refused for what is no record."""
    handle = os.open(spool / RECORDS, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(handle, encoding="utf-8", errors="surrogatepass") as file:
        while line := file.readline(LONGEST):
            try:
                yield _ADAPTER.validate_python(storable_data(json.loads(line)))
            except (ValidationError, ValueError, RecursionError) as error:
                raise Refused("reader_died", said="not a record") from error
