"""What is wrong with an upload, in words: each reason names the place and what helps."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

REFUSALS: dict[str, Promise] = {
    "other_archive": _("%(file)s is not a zip archive. Pack the files as zip."),
    "too_many_files": _("There are more than %(most)s files in it."),
    "no_zip": _("%(file)s is not a valid zip archive."),
    "broken_entry": _("The file %(file)s in the archive is broken."),
    "link_in_zip": _("%(file)s in the archive is a link. Pack the file itself."),
    "locked_entry": _("%(file)s in the archive has a password."),
    "odd_compression": _("%(file)s uses an unsupported compression. Use an ordinary zip (deflate)."),
    "nested_archive": _("%(file)s is an archive within the archive. Unpack it first."),
    "named_twice": _("The archive holds two files called %(file)s."),
    "unsafe_name": _("The archive has a file %(file)s outside of its folder."),
    "too_bulky": _("%(file)s is larger than %(most)s when unpacked."),
    "bomb": _("%(file)s grows %(times)s times when unpacked, which looks like a zip bomb."),
    "swells": _("It unpacks to more than %(times)s times its size, which looks like a zip bomb."),
    "too_deep": _("It is nested too deeply to be read."),
    "disk_full": _("The server's disk is full. Tell an administrator."),
    "unreadable_file": _("%(file)s could not be read."),
    "heavy_picture": _("A picture is larger than %(most)s."),
    "vast_picture": _("A picture has more than %(pixels)s pixels, or a side longer than %(side)s."),
    "moving_picture": _("A picture is animated. Only still pictures can be compared."),
    "broken_picture": _("A picture is broken or cut off."),
    "no_picture": _("This is not a picture. PNG, JPEG, WebP and GIF are supported."),
    "odd_picture": _("A cell in the picture column is not a picture."),
    "picture_address": _(
        "The picture %(name)s is an address. Nothing is downloaded: include the picture in the upload."
    ),
    "no_such_picture": _("There is no picture %(name)s in the upload. Put the table and its pictures into one zip."),
    "unsafe_path": _("The path %(name)s leads out of the upload."),
    "many_pictures": _("There are more than %(most)s pictures in one cell."),
    "bytes_as_text": _("The column %(column)s holds bytes where text is expected."),
    "long_text": _("The column %(column)s holds more than %(most)s characters."),
    "heavy_row": _("All texts of number %(number)s together are longer than %(most)s characters."),
    "no_number": _("The column %(column)s should hold a number, but holds “%(found)s”."),
    "number_twice": _("The number %(number)s appears twice. Each sample of a subset needs its own."),
    "output_twice": _("%(contestant)s has a second output for number %(number)s."),
    "nameless": _("The name of the contestant is missing."),
    "no_column": _("There is no column %(column)s. Columns: %(columns)s."),
    "no_instruction": _(
        "No column has the instruction. Choose one of %(columns)s, or name it “instruction” or “prompt”."
    ),
    "no_index": _("No column has the sample number. Name it “index”. Columns: %(columns)s."),
    "no_contestant": _("No contestant is named. Add a column “contestant”. Columns: %(columns)s."),
    "no_text": _("No column has the outputs. Name it “text” or “image”. Columns: %(columns)s."),
    "broken_card": _("The YAML in front of %(file)s cannot be read: %(said)s"),
    "card_without_table": _("%(file)s names files for “%(config)s”, and none of them is in the upload."),
    "empty_table": _("The table is empty."),
    "no_samples": _(
        "There is nothing to compare in it. Use a table (Parquet, CSV, JSON Lines), or pictures named by "
        "number in a folder per contestant."
    ),
    "no_outputs": _(
        "There are no outputs in it. Use a table with index, contestant and text, or pictures named by number "
        "in a folder per contestant."
    ),
    "many_samples": _("There are more than %(most)s samples in it."),
    "many_contestants": _("There are more than %(most)s contestants in the file."),
    "odd_contestant": _("“%(contestant)s” is not a valid contestant name. Use 1 to 200 printable characters."),
    "odd_subset": _("“%(subset)s” is not a valid subset name. Use up to 100 printable characters."),
    "two_experiments": _("The contestant %(contestant)s is in two experiments. Rename one."),
    "no_such_day": _("The folder %(name)s ends with a date that does not exist."),
    "column_twice": _("Two columns are named %(column)s."),
    "many_columns": _("It has more than %(most)s columns."),
    "field_twice": _("The field %(column)s appears twice in one object."),
    "ragged_row": _("A line has %(found)s fields, the first line has %(wanted)s. Put texts with separators in quotes."),
    "odd_line_ends": _("Its line endings are unusual. Save the file with ordinary ones."),
    "unreadable_line": _("The line cannot be read: %(said)s."),
    "unreadable_row": _("This is not valid JSON."),
    "cut_off": _("%(file)s is cut off."),
    "no_object": _("A JSON object with named fields is expected."),
    "long_line": _("The line is longer than %(most)s."),
    "not_utf8": _("The text is not UTF-8. Save the file in that encoding."),
    "unreadable_table": _("The table cannot be read: %(said)s"),
    "wide_groups": _(
        "The row groups of %(file)s are too large. Write it again with groups of about 100 rows (row_group_size=100)."
    ),
    "needs_memory": _("Reading it needs more memory than allowed."),
    "took_too_long": _("Reading it took longer than allowed."),
    "reader_died": _("The process that read it ended unexpectedly (%(said)s). Nothing was stored."),
    "interrupted": _("Reading was interrupted. Load it again."),
    "upload_gone": _("The uploaded file no longer exists. Upload it again."),
    "wrong_kind_image": _(
        "It has pictures, but the outputs of this dataset are texts. Choose pictures as its kind of outputs."
    ),
    "wrong_kind_text": _("It has texts, but the outputs of this dataset are pictures."),
    "unknown_subset": _("The dataset has no subset called “%(subset)s”."),
    "which_subset": _(
        "The number %(number)s is in several subsets. Put the outputs into folders named like them, or add a "
        "column “subset”."
    ),
    "nothing_fits": _("None of the outputs belongs to a sample of this dataset. Their numbers differ."),
}

WARNINGS: dict[str, Any] = {
    "ignored_tables": ngettext_lazy(
        "%(times)s table of another kind was ignored.", "%(times)s tables of another kind were ignored.", "times"
    ),
    "empty_instructions": ngettext_lazy(
        "%(times)s sample has no instruction.", "%(times)s samples have no instruction.", "times"
    ),
    "long_metadata": ngettext_lazy(
        "The further fields of %(times)s sample were too long and were left out.",
        "The further fields of %(times)s samples were too long and were left out.",
        "times",
    ),
    "no_table": _("There was no table: the samples have no instruction."),
    "unknown_numbers": ngettext_lazy(
        "%(times)s output belongs to no sample and was left out.",
        "%(times)s outputs belong to no sample and were left out.",
        "times",
    ),
    "empty_outputs": ngettext_lazy(
        "%(times)s output is empty and was left out.", "%(times)s outputs are empty and were left out.", "times"
    ),
    "kept": ngettext_lazy(
        "%(times)s output already existed and was not changed.",
        "%(times)s outputs already existed and were not changed.",
        "times",
    ),
    "missing": _("%(contestant)s has outputs for %(found)s of %(wanted)s samples."),
}
SIZES = {"too_bulky", "heavy_picture", "long_line"}


def sentence(code: str, facts: Mapping[str, Any]) -> str:
    """Why it was refused, beginning with the file and the row where they are known and not named anyway."""
    told = {  # names of files come from strangers
        name: "".join(character if character.isprintable() else "\ufffd" for character in str(value))[:400]
        for name, value in facts.items()
    }
    if code in SIZES and "most" in facts:
        told["most"] = filesizeformat(facts["most"])
    words = str(REFUSALS[code])
    said = words % told
    file, row = told.get("file"), told.get("row")
    if not file or "%(file)s" in words:
        return said
    place = {"file": file, "row": row, "said": said}
    return gettext("%(file)s, row %(row)s: %(said)s") % place if row else gettext("%(file)s: %(said)s") % place


def in_words(warnings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Stored warnings, each {code, …}."""
    known = ((WARNINGS.get(told.get("code", "")), told) for told in warnings)
    return [str(words % told) for words, told in known if words]
