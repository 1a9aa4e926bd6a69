"""Weights set aside on the way, so that a replay need not begin at the start.

A checkpoint says which answer it follows, by the key that the store gave to that line of the log.
If the line is not there any more, the checkpoint belongs to a past that was undone. A file appears
under its name only when all of it is on disk; if it is damaged all the same, its digest tells.
"""

from __future__ import annotations

import os
import pickle
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from zorank._machine import is_running
from zorank.errors import ReplayError, StoreError
from zorank.torch.weights import Weights, digest, uninterrupted
from zorank.types import Round

KEPT = 2
"""How many of the newest files are kept beside that of the start."""

_UNREADABLE = (OSError, RuntimeError, ValueError, KeyError, TypeError, EOFError, IndexError)


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of one run in a folder of their own.

    Attributes:
        folder: where the files are.
        training: what the run is known by, whatever its name.
    """

    folder: Path
    training: str

    def write(self, weights: Weights, log: Sequence[Round]) -> Path:
        """Set the weights aside as those after this log; gives the file."""
        content = {
            "training": self.training,
            "rounds": len(log),
            "key": log[-1].key if log else "",
            "draws": weights.draws(),
            "units": weights.units(),
            "digest": digest(weights.values()),
            "weights": {
                part.name: part.values.clone()
                if part.values.untyped_storage().nbytes() > part.values.nbytes  # of others too
                else part.values
                for part in weights.parts
            },
        }
        target = self.folder / f"round-{len(log):08}.pt"
        unfinished = target.with_suffix(f".{os.getpid()}.unfinished")
        try:
            torch.save(content, unfinished)
            with open(unfinished, "rb") as file:
                os.fsync(file.fileno())
            os.replace(unfinished, target)
        except (OSError, RuntimeError) as error:  # torch's own writer raises the latter
            raise StoreError(
                f"the weights cannot be written to {target} ({error}); every answer is "
                "in the log, so nothing is lost: make room, or use another folder"
            ) from error
        finally:
            unfinished.unlink(missing_ok=True)
        self.tidy(len(log))
        return target

    def newest(self, weights: Weights, log: Sequence[Round]) -> int | None:
        """Load the newest one that this log can follow; gives its number of rounds, if any."""
        for path, content in self._readable():
            rounds = content["rounds"]
            reason = self._objection(content, weights, log)
            if reason is None:
                if _load(weights, content):
                    if content["draws"] != weights.draws():
                        self.write(weights, log)  # from here on the draws of this device count
                    return int(rounds)
                reason = "is damaged"
            warnings.warn(f"checkpoint {path} {reason}; an older one is used", stacklevel=4)
        return None

    def _readable(self) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """The files that can be read, newest first."""
        for _, path in sorted(self._files(), reverse=True):
            try:
                content = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
                training = content["training"]
            except (*_UNREADABLE, pickle.UnpicklingError):
                warnings.warn(f"checkpoint {path} is damaged; an older one is used", stacklevel=5)
                continue
            if training != self.training:
                raise ReplayError(
                    f"{self.folder} holds checkpoints of another training; use another folder, "
                    "or empty this one"
                )
            yield path, content

    def _objection(
        self, content: Mapping[str, Any], weights: Weights, log: Sequence[Round]
    ) -> str | None:
        rounds = content["rounds"]
        if rounds > len(log) or (rounds and log[rounds - 1].key != content["key"]):
            return "follows answers that were undone"
        if rounds < len(log) and content["draws"] != weights.draws():
            return "was made on a device, or by a torch, that draws other numbers"
        return None

    def _files(self) -> list[tuple[int, Path]]:
        found = ((re.fullmatch(r"round-(\d+)\.pt", p.name), p) for p in self.folder.iterdir())
        return [(int(match[1]), path) for match, path in found if match]

    def tidy(self, rounds: int) -> None:
        """Remove all but the start and the newest few up to this round; later ones were undone."""
        files = sorted((n, path) for n, path in self._files() if n)
        undone = [path for n, path in files if n > rounds]
        past = [path for n, path in files if n <= rounds]
        for path in [*undone, *past[:-KEPT], *self._unfinished()]:
            path.unlink(missing_ok=True)

    def _unfinished(self) -> list[Path]:
        """What processes that were killed while they wrote left behind."""
        found = ((re.search(r"\.(\d+)\.unfinished$", p.name), p) for p in self.folder.iterdir())
        return [p for match, p in found if match and not is_running(int(match[1]))]


def _load(weights: Weights, content: Mapping[str, Any]) -> bool:
    """Put kept numbers into the module, if they are all there and unchanged."""
    kept, units = content["weights"], content["units"]
    if [*kept] != [part.name for part in weights.parts]:
        return False
    if digest(kept.values()) != content["digest"]:
        return False
    with uninterrupted(), torch.no_grad():
        for part, unit in zip(weights.parts, units, strict=True):
            part.values.copy_(kept[part.name])
            part.unit = unit
    return True
