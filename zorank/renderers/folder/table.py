"""Reads a table, a CSV or TSV file, whose rows are ranked."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from zorank.errors import InvalidInput
from zorank.renderers.folder.kinds import MIB, TABLES
from zorank.renderers.folder.manifest import MAX_ITEMS, MAX_NAME, Item, Manifest, digest_of

LARGEST = 64 * MIB


@dataclass(frozen=True)
class Row:
    """A row: its cells by the heading of their column."""

    cells: tuple[tuple[str, str], ...]

    @property
    def content(self) -> bytes:
        """The row as bytes, for its size and digest."""
        return "\x1e".join(f"{heading}\x1f{cell}" for heading, cell in self.cells).encode()

    @property
    def label(self) -> str:
        """The first cell, shortened, in printable characters."""
        words = " ".join(self.cells[0][1].split())
        return "".join(c if c.isprintable() else "�" for c in words)[: MAX_NAME - 20]


@dataclass(frozen=True)
class Table:
    """A table with a line of headings."""

    root: Path

    def scan(self) -> tuple[Manifest, list[str]]:
        """Return the rows to rank, and sentences about those that are left out."""
        items, copies = {}, []
        for number, row in enumerate(self.rows(), start=1):
            content = row.content
            digest = digest_of(content)
            if digest in items:
                copies.append(str(number))
                continue
            items[digest] = Item(f"{number}: {row.label}", len(content), digest)
        if len(items) < 2:
            raise InvalidInput(
                f"{self.root} has {'only one row' if items else 'no rows'} to rank below its "
                "headings; two different ones are needed"
            )
        if len(items) > MAX_ITEMS:
            raise InvalidInput(
                f"{self.root} has {len(items):,} rows; at most {MAX_ITEMS:,} can be ranked"
            )
        said = [f"left out row {', '.join(copies[:5])}: copies of earlier rows"] if copies else []
        return Manifest("row", tuple(items.values())), said

    def rows(self) -> list[Row]:
        """Return the rows below the headings; empty ones are skipped."""
        try:
            lines = list(csv.reader(io.StringIO(self._text(), newline=""), self._dialect()))
        except csv.Error as error:
            raise InvalidInput(f"{self.root} is not a table: {error}") from error
        filled = [line for line in lines if any(cell.strip() for cell in line)]
        if not filled:
            return []
        headings, *below = filled
        return [Row(tuple(_cells(headings, line))) for line in below]

    def _text(self) -> str:
        try:
            if self.root.stat().st_size > LARGEST:
                raise InvalidInput(
                    f"{self.root} is too large: a table may have {LARGEST // MIB} MiB"
                )
            return self.root.read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise InvalidInput(f"{self.root} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{self.root} is not in UTF-8; save it as UTF-8") from error

    def _dialect(self) -> type[csv.Dialect]:
        usual = TABLES.get(self.root.suffix.lower(), ",")
        first = self._text().split("\n", 1)[0]
        best = max((usual, ",", ";", "\t"), key=first.count)  # ties: the usual delimiter

        class Found(csv.excel):
            delimiter = best

        return Found


def _cells(headings: list[str], line: list[str]) -> list[tuple[str, str]]:
    extra = [f"column {i + 1}" for i in range(len(headings), len(line))]
    padded = line + [""] * (len(headings) - len(line))
    return list(zip([*headings, *extra], padded, strict=True))
