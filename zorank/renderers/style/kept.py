"""The private folder of photos that people chose: of this user only, on this machine.

A photo has a folder named by the digest of its content, and in it a file for each run that uses
it. It is removed with the last of these runs; one that no run uses is removed after a day, when
another one is added. Processes need no locks: a run first adds its mark and then checks that the
photo exists; a removal first renames the photo and then looks for marks. So a photo that a run
uses is never removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from zorank.errors import InvalidInput, required_by
from zorank.renderers.style.photos import LARGEST_FILE, harmless

KEPT = "kept:"
"""The prefix of the option of a kept photo."""
UNUSED_SECONDS = 24 * 3600.0
_DIGEST = re.compile(r"[0-9a-f]{32}")
_PHOTO, _AWAY, _RUN = "photo.jpg", "photo.away", "run-"


def is_kept(value: Any) -> bool:
    """Whether this is the option of a kept photo."""
    return isinstance(value, str) and value.startswith(KEPT)


def only_kept(value: Any) -> str:
    """Return an option that names no file of the machine: a kept photo, or none."""
    if value == "" or (is_kept(value) and _DIGEST.fullmatch(value.removeprefix(KEPT))):
        return str(value)
    raise InvalidInput(
        "a photo is chosen on the page, or with --photo when the studio is started; its path "
        "cannot be given here"
    )


@dataclass(frozen=True)
class KeptPhotos:
    """Photos in a folder."""

    folder: Path

    @classmethod
    def of_user(cls) -> KeptPhotos:
        """Return the photos of this user, in the folder that also has the studio's token."""
        with required_by("photos", "platformdirs", "sql"):
            from platformdirs import user_data_path
        return cls(Path(user_data_path("zorank")) / "photos")

    def add(self, content: bytes) -> str:
        """Keep a photo, made harmless; return its option."""
        photo = harmless(content)
        digest = blake2b(photo, digest_size=16).hexdigest()
        place = self.folder / digest
        try:
            self._remove_unused()
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.mkdir(mode=0o700, exist_ok=True)
            _write(place / _PHOTO, photo)
        except OSError as error:
            raise InvalidInput(
                f"the photo cannot be kept in {self.folder}: {error.strerror}; free disk space, "
                "or let this user write to the folder"
            ) from error
        return KEPT + digest

    def read(self, option: str) -> bytes:
        """Return a kept photo, as JPEG."""
        try:
            return (self._place(option) / _PHOTO).read_bytes()
        except OSError as error:
            raise _gone() from error

    def hold(self, options: Iterable[Any], run: str) -> None:
        """Keep the photos among these options until this run is deleted."""
        for option in filter(is_kept, options):
            place = self._place(option)
            mark = place / _mark(run)
            try:
                mark.touch(0o600)
                if not (place / _PHOTO).is_file():
                    mark.unlink(missing_ok=True)
                    raise FileNotFoundError
            except OSError as error:
                raise _gone() from error

    def release(self, run: str) -> None:
        """Remove the photos that only this run used."""
        for place in self._places():
            mark = place / _mark(run)
            if mark.exists():
                mark.unlink(missing_ok=True)
                _remove_without_runs(place)

    def _remove_unused(self) -> None:
        for place in self._places():
            with contextlib.suppress(OSError):
                if time.time() - place.stat().st_mtime > UNUSED_SECONDS:
                    _remove_without_runs(place)

    def _places(self) -> list[Path]:
        try:
            return [place for place in self.folder.iterdir() if _DIGEST.fullmatch(place.name)]
        except OSError:
            return []  # there is no folder yet

    def _place(self, option: str) -> Path:
        return self.folder / only_kept(option).removeprefix(KEPT)


def read_file(path: str) -> bytes:
    """Return the content of a photo's file, at most one byte more than is allowed."""
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file's name"
        raise InvalidInput(f"the photo {path!r} cannot be read: {reason}") from error


def keep_file(path: str) -> str:
    """Keep the photo in a file that the user of this machine named; return its option."""
    return path if path == "" or is_kept(path) else KeptPhotos.of_user().add(read_file(path))


def _remove_without_runs(place: Path) -> None:
    """Remove a photo unless a run uses it or begins to use it at this moment."""
    with contextlib.suppress(OSError):
        os.replace(place / _PHOTO, place / _AWAY)
    if any(each.name.startswith(_RUN) for each in place.iterdir()):
        with contextlib.suppress(OSError):
            os.replace(place / _AWAY, place / _PHOTO)
    else:
        shutil.rmtree(place, ignore_errors=True)


def _mark(run: str) -> str:
    return _RUN + blake2b(run.encode(), digest_size=16).hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Write a file that only this user can read; other processes see all of it or nothing."""
    part = path.with_name(f"{path.name}-{os.getpid()}-{time.monotonic_ns()}")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    os.replace(part, path)


def _gone() -> InvalidInput:
    return InvalidInput(
        "the photo of this run is no longer kept on this machine; choose it again in a new run"
    )


__all__ = ["KEPT", "KeptPhotos", "is_kept", "keep_file", "only_kept", "read_file"]
