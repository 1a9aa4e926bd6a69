"""The file of finished trials: one JSON line each, appended as trials finish.

A process may be killed while it writes, so a truncated last line counts as an unfinished trial.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from zorank.errors import InvalidInput


def key_of(trial: Any, version: str, kind: str = "Trial") -> str:
    """Return the key of a trial, a hash of the version, the kind and all fields of the trial."""
    text = json.dumps([version, kind, asdict(trial)], sort_keys=True)
    return blake2b(text.encode(), digest_size=12).hexdigest()


def finished(file: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of a file by key; skip truncated lines."""
    try:
        lines = file.read_text(errors="replace").splitlines() if file.exists() else []
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from error
    entries = (entry for entry in map(_parse, lines) if entry is not None)
    return {entry["key"]: entry["row"] for entry in entries}


class TrialLog:
    """A file of finished trials, open for appending."""

    def __init__(self, file: Path) -> None:
        self._text = _open_to_append(file)

    def __enter__(self) -> TrialLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._text.close()

    def append(self, key: str, trial: Any, row: dict[str, Any]) -> None:
        """Append a finished trial and flush."""
        self._text.write(json.dumps({"key": key, "cell": asdict(trial), "row": row}) + "\n")
        self._text.flush()


def _parse(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict):
        return None
    complete = isinstance(entry.get("key"), str) and isinstance(entry.get("row"), dict)
    return entry if complete else None


def _open_to_append(file: Path) -> IO[str]:
    """Open the file, and end a truncated last line."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a+b") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(size - 1, 0))
            truncated = log.read(1) not in (b"", b"\n")
        text = file.open("a", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error
    if truncated:
        text.write("\n")
    return text
