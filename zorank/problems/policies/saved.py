"""A learned policy in a file, and as a function."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from zorank.errors import InvalidInput
from zorank.problems.policies.moments import Moments
from zorank.problems.policies.policy import Action, Array, Limits, Policy
from zorank.problems.policies.problem import PolicyProblem
from zorank.types import Vector

FILE = "policy.json"


@dataclass(frozen=True, eq=False)
class LearnedPolicy:
    """A policy that knows what it has seen: observation → action.

    Attributes:
        problem: where and how it was learned.
        parameters: what was learned.
        seen: what observations are divided by.
        action: what the environment takes.
    """

    problem: PolicyProblem
    parameters: Vector
    seen: Moments
    action: Action

    def __call__(self, observation: Any) -> Any:
        """The action for an observation, of the environment's own kind."""
        row = np.asarray(observation, dtype=float).ravel()
        if row.size != self.seen.mean.size:
            raise InvalidInput(
                f"this policy looks at {self.seen.mean.size} numbers, found {row.size}"
            )
        if self.problem.normalise:
            row = self.seen.scaled(row)
        return self.action.of(self._policy.act(self._layers, row[None])[0])

    @cached_property
    def _policy(self) -> Policy:
        inputs, outputs = self.seen.mean.size, self.action.outputs
        return Policy(inputs, outputs, self.problem.hidden, self.problem.bias)

    @cached_property
    def _layers(self) -> list[Array]:
        return self._policy.layers([self.parameters])

    def as_note(self) -> dict[str, Any]:
        """Plain JSON values from which `load_policy` makes the very same policy."""
        return {
            "problem": self.problem.as_note(),
            "action": asdict(self.action),
            "parameters": self.parameters.tolist(),
            "seen": self.seen.as_note(),
        }

    def save(self, folder: str | Path, **more: Any) -> Path:
        """Write it, and whatever else is worth keeping, into a folder."""
        file = Path(folder) / FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}.part")
        try:
            partial.write_text(json.dumps({**self.as_note(), **more}))
            partial.replace(file)
        finally:
            partial.unlink(missing_ok=True)
        return file


def load_policy(folder: str | Path) -> LearnedPolicy:
    """What `zorank rl --out FOLDER` or the studio kept: observation → action."""
    file = Path(folder)
    file = file / FILE if file.is_dir() else file
    try:
        return _from_note(json.loads(file.read_text()))
    except FileNotFoundError as error:
        raise InvalidInput(
            f"there is no policy in {str(folder)!r}; `zorank rl ENV --out FOLDER` writes one"
        ) from error
    except OSError as error:
        raise InvalidInput(f"{str(file)!r} cannot be read: {error}") from error
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise InvalidInput(f"{str(file)!r} is not a policy that zorank wrote: {error}") from error


def _from_note(note: Mapping[str, Any]) -> LearnedPolicy:
    """What `as_note` wrote, if its parts fit each other."""
    found = LearnedPolicy(
        PolicyProblem.from_note(note["problem"]),
        np.array(note["parameters"], dtype=float),
        Moments.from_note(note["seen"]),
        _action_from(note["action"]),
    )
    seen = found.seen
    needed = found._policy.dim
    if found.parameters.shape != (needed,):
        raise ValueError(f"its parameters are not {needed} numbers")
    if seen.mean.ndim != 1 or seen.squares.shape != seen.mean.shape or (seen.squares < 0).any():
        raise ValueError("its statistics are no means and squares")
    if not all(np.isfinite(part).all() for part in (found.parameters, seen.mean, seen.squares)):
        raise ValueError("it holds what is no number")
    return found


def _action_from(note: Any) -> Action:
    """What an environment takes, if it could take it."""
    if not isinstance(note, dict) or not isinstance(note.get("limits"), dict | None):
        raise ValueError("its action is not described")
    shape, first = tuple(note["shape"]), note["first"]
    if not all(type(side) is int and side > 0 for side in shape):
        raise ValueError(f"its action has the shape {shape}")
    if first is not None and type(first) is not int:
        raise ValueError(f"its first choice is {first!r}")
    if note.get("limits") is None:
        return Action(shape, first)
    low, high = (np.array(note["limits"][end], dtype=float) for end in ("low", "high"))
    kind = np.dtype(note["limits"]["dtype"])
    fit = low.shape == high.shape == (prod(shape),) and (low <= high).all() and kind.kind in "fiu"
    if not fit:
        raise ValueError("its action's limits are no limits")
    return Action(shape, first, Limits(tuple(low.tolist()), tuple(high.tolist()), str(kind)))
