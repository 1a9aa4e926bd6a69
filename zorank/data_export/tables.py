"""Tables of columns and rows, and the files that they are written to.

A file is written under a temporary name in the same folder and then renamed, so that a file of the
wanted name is always complete.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from zorank.errors import InvalidInput, required_by

Row = Mapping[str, Any]

PARQUET_ROWS = 64
"""How many rows are written to a Parquet file at once; each may have two pictures."""


@dataclass(frozen=True)
class Column:
    """A column: its name, the type of its values (list stands for numbers), its meaning."""

    name: str
    type: type
    about: str


@dataclass(frozen=True, eq=False)
class Table:
    """Columns, and rows that are made when they are written."""

    columns: tuple[Column, ...]
    rows: Iterable[Row]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]


def write_csv(table: Table, file: IO[str]) -> int:
    """Write a header and a line for each row; return the number of rows."""
    writer = csv.DictWriter(file, table.names, lineterminator="\n")
    writer.writeheader()
    count = 0
    for row in table.rows:
        writer.writerow(row)
        count += 1
    return count


def write_json_lines(table: Table, file: IO[str]) -> int:
    """Write a JSON object for each row on a line of its own; return the number of rows."""
    count = 0
    for row in table.rows:
        file.write(_json(row) + "\n")
        count += 1
    return count


def write_json(table: Table, file: IO[str]) -> int:
    """Write a JSON array of objects, a line for each; return the number of rows."""
    count = 0
    for count, row in enumerate(table.rows, start=1):
        file.write(("[\n" if count == 1 else ",\n") + _json(row))
    file.write("\n]\n" if count else "[]\n")
    return count


TEXT_WRITERS: Mapping[str, Callable[[Table, IO[str]], int]] = {
    ".csv": write_csv,
    ".jsonl": write_json_lines,
    ".json": write_json,
}
"""Writers by the extension of the file; the other extension is .parquet."""


def write_parquet(table: Table, file: Path) -> int:
    """Write a Parquet file; return the number of rows."""
    import pyarrow
    from pyarrow import parquet

    types = {
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        str: pyarrow.string(),
        bool: pyarrow.bool_(),
        bytes: pyarrow.binary(),
        list: pyarrow.list_(pyarrow.float64()),
    }
    schema = pyarrow.schema([(column.name, types[column.type]) for column in table.columns])
    count = 0
    with parquet.ParquetWriter(file, schema) as writer:
        for rows in _groups(table.rows):
            writer.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows], schema))
            count += len(rows)
    return count


def check_form(path: Path) -> None:
    """Raise MissingExtra if the package that writes a file of this extension is missing."""
    if path.suffix == ".parquet":
        with required_by("a Parquet file", "pyarrow", "export"):
            import pyarrow  # noqa: F401


def write_file(table: Table, path: Path) -> int:
    """Write a file in the form of its extension; return the number of rows."""
    with replacing(path) as part:
        if path.suffix == ".parquet":
            return write_parquet(table, part)
        with part.open("w", encoding="utf-8", newline="") as file:
            return TEXT_WRITERS[path.suffix](table, file)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside a file; the file is replaced if nothing fails."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        raise not_writable(path, error) from error
    finally:
        part.unlink(missing_ok=True)


def check_folder(folder: Path, path: Path) -> None:
    """Raise InvalidInput, which names the path, unless files can be made in this folder."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise not_writable(path, error) from error


def not_writable(path: Path, error: OSError) -> InvalidInput:
    """Return the error for a file or folder that cannot be written."""
    return InvalidInput(f"{path} cannot be written: {error.strerror or error}")


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while group := list(islice(left, PARQUET_ROWS)):
        yield group


def _json(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False)
