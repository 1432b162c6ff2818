"""Real files of every kind, made for one test."""

import csv
import json
import zipfile
from io import BytesIO, StringIO

import duckdb
from PIL import Image


def png(colour="red", size=(8, 6)):
    return picture("PNG", colour, size)


def picture(format_, colour="red", size=(8, 6)):
    file = BytesIO()
    Image.new("RGB", size, colour).save(file, format_)
    return file.getvalue()


def moving():
    file = BytesIO()
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    return file.getvalue()


def table(rows):
    file = StringIO()
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def parquet(path, rows, **types):
    """rows: dicts; types: DuckDB's, of the columns that are no text."""
    columns = list(rows[0])
    database = duckdb.connect()
    named = ", ".join(f'"{name}" {types.get(name, "VARCHAR")}' for name in columns)
    database.execute(f"CREATE TABLE rows ({named})")
    places = ", ".join("?" for _ in columns)
    database.executemany(f"INSERT INTO rows VALUES ({places})", [[row[name] for name in columns] for row in rows])
    path.parent.mkdir(parents=True, exist_ok=True)
    database.execute(f"COPY rows TO '{path}' (FORMAT parquet)")
    database.close()
    return path


def packed(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path
