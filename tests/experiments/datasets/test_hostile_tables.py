"""Tables that are made to do harm: refused in words by the limited process, or read for what they say."""

import contextlib
import gzip

import pytest

from experiments.datasets.process import Refused
from experiments.models import Dataset
from tests.cases import each_case

pytestmark = [pytest.mark.system, pytest.mark.django_db]
COLUMNS = 1_000_000


def test_a_table_of_a_million_columns_is_refused(load_text):
    header = ",".join(f"c{number}" for number in range(COLUMNS))

    with pytest.raises(Refused):
        load_text("wide.csv", f"{header}\n{'1,' * (COLUMNS - 1)}1\n")
    assert not Dataset.objects.exists()


@each_case("name", ["a.csv.gz", "a.jsonl.gz", "a.csv", "a.json", "a.parquet"])
def test_what_was_packed_to_a_thousandth_is_not_unpacked(load_text, name):
    """Whatever it is called."""
    with pytest.raises(Refused):
        load_text(name, gzip.compress(b"prompt\n" + b"a" * (200 << 20), compresslevel=9))


@each_case("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_another_encoding_is_refused_or_read_as_it_is_meant(load_text, encoding):
    text = "prompt\nWhy is the sky blue?\n"
    try:
        made = load_text("a.csv", text.encode(encoding))
    except Refused:
        assert not Dataset.objects.exists()
    else:
        assert made.samples.get().instruction == "Why is the sky blue?"


@each_case("data", [b"\x00" * 100_000, b"prompt\n\x00\x00\x00\n", b"\xff\xfe\x00", b"", b'"' * 99_999])
@each_case("name", ["a.csv", "a.jsonl", "a.json", "a.parquet", "a.zip"])
def test_bytes_that_are_no_table_end_in_a_refusal_or_in_clean_text(load_text, name, data):
    with contextlib.suppress(Refused):
        made = load_text(name, data)
        assert not any("\x00" in sample.instruction for sample in made.samples.all())


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_byte_order_mark_and_the_ends_of_lines_change_nothing(load_text, ends):
    text = "\ufeff" + ends.join(["prompt,category", "One,x", "Two,y", ""])

    made = load_text("a.csv", text)

    assert [sample.instruction for sample in made.samples.order_by("index")] == ["One", "Two"]


def test_lines_that_end_as_on_machines_of_former_days_are_told_of(load_text):
    with pytest.raises(Refused, match="ordinary line ends"):
        load_text("a.csv", "prompt,category\rOne,x\rTwo,y\r")
