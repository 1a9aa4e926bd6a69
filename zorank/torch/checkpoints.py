"""Checkpoints of the weights, so that a replay of the log need not begin at the start.

A checkpoint names the answer that it follows by the key of that line of the log. If the log has no
such line, the answer was undone and the checkpoint is skipped. Files are written atomically, and a
digest detects damage.
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
from zorank.torch.grid import digest
from zorank.torch.weights import Weights, uninterrupted
from zorank.types import Round

KEPT = 2
"""How many of the newest files are kept, in addition to the start."""

_UNREADABLE = (OSError, RuntimeError, ValueError, KeyError, TypeError, EOFError, IndexError)


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of one run, in a folder of their own.

    Attributes:
        folder: the folder of the files.
        training: the run's unique id.
    """

    folder: Path
    training: str

    def write(self, weights: Weights, log: Sequence[Round]) -> Path:
        """Write the weights as those after this log, and return the file."""
        content = {
            "training": self.training,
            "rounds": len(log),
            "key": log[-1].key if log else "",
            "draws": weights.draws_digest(),
            "units": weights.units(),
            "digest": digest(weights.values()),
            "weights": {
                p.name: p.values.clone()
                if p.values.untyped_storage().nbytes() > p.values.nbytes  # shared storage
                else p.values
                for p in weights.parameters
            },
        }
        target = self.folder / f"round-{len(log):08}.pt"
        unfinished = target.with_suffix(f".{os.getpid()}.unfinished")
        try:
            torch.save(content, unfinished)
            with open(unfinished, "rb") as file:
                os.fsync(file.fileno())
            os.replace(unfinished, target)
        except (OSError, RuntimeError) as error:  # torch's writer raises RuntimeError
            raise StoreError(
                f"the weights cannot be written to {target} ({error}); all answers are in the "
                "log, so nothing is lost: free disk space, or use another folder"
            ) from error
        finally:
            unfinished.unlink(missing_ok=True)
        self.tidy(len(log))
        return target

    def load_newest(self, weights: Weights, log: Sequence[Round]) -> int | None:
        """Load the newest checkpoint of this log, and return its number of rounds."""
        for path, content in self._readable():
            rounds = content["rounds"]
            reason = self._mismatch(content, weights, log)
            if reason is None:
                if _load(weights, content):
                    if content["draws"] != weights.draws_digest():
                        self.write(weights, log)  # later rounds use the draws of this device
                    return int(rounds)
                reason = "is damaged"
            warnings.warn(f"checkpoint {path} {reason}; an older one is used", stacklevel=5)
        return None

    def _readable(self) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Iterate over the readable files, newest first."""
        for _, path in sorted(self._files(), reverse=True):
            try:
                content = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
                training = content["training"]
            except (*_UNREADABLE, pickle.UnpicklingError):
                warnings.warn(f"checkpoint {path} is damaged; an older one is used", stacklevel=6)
                continue
            if training != self.training:
                raise ReplayError(
                    f"{self.folder} contains checkpoints of another training; use another folder, "
                    "or empty this one"
                )
            yield path, content

    def _mismatch(
        self, content: Mapping[str, Any], weights: Weights, log: Sequence[Round]
    ) -> str | None:
        rounds = content["rounds"]
        if rounds > len(log) or (rounds and log[rounds - 1].key != content["key"]):
            return "follows answers that were undone"
        if rounds < len(log) and content["draws"] != weights.draws_digest():
            return "was made on a device, or by a torch release, that draws other numbers"
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
        """Return the temporary files of processes that were killed."""
        found = ((re.search(r"\.(\d+)\.unfinished$", p.name), p) for p in self.folder.iterdir())
        return [p for match, p in found if match and not is_running(int(match[1]))]


def _load(weights: Weights, content: Mapping[str, Any]) -> bool:
    """Copy a checkpoint into the module; return False if it is incomplete or damaged."""
    saved, units = content["weights"], content["units"]
    if [*saved] != [p.name for p in weights.parameters]:
        return False
    if digest(saved.values()) != content["digest"]:
        return False
    with uninterrupted(), torch.no_grad():
        for p, unit in zip(weights.parameters, units, strict=True):
            p.values.copy_(saved[p.name])
            p.unit = unit
    return True
