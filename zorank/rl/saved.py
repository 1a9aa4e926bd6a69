"""A learned policy as a function, and its file `policy.json`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from zorank.errors import InvalidInput, short
from zorank.rl.observation_statistics import ObservationStatistics
from zorank.rl.policy import ActionSpace, Array, Policy
from zorank.rl.problem import PolicyProblem
from zorank.types import Vector

FILE = "policy.json"


@dataclass(frozen=True, eq=False)
class LearnedPolicy:
    """A policy with its observation statistics: call it with an observation to get an action.

    Attributes:
        problem: the environment and the kind of policy.
        parameters: the learned parameters.
        statistics: the statistics that normalise observations.
        action_space: the actions of the environment.
    """

    problem: PolicyProblem
    parameters: Vector
    statistics: ObservationStatistics
    action_space: ActionSpace

    def __call__(self, observation: Any) -> Any:
        """Return the action for an observation, in the environment's own type."""
        row = np.asarray(observation, dtype=float).ravel()
        if row.size != self.statistics.mean.size:
            raise InvalidInput(
                f"this policy takes observations of {self.statistics.mean.size} numbers, "
                f"found {row.size}"
            )
        if self.problem.normalise:
            row = self.statistics.normalise(row)
        return self.action_space.action(self._policy.act(self._layers, row[None])[0])

    @cached_property
    def _policy(self) -> Policy:
        inputs, outputs = self.statistics.mean.size, self.action_space.outputs
        return Policy(inputs, outputs, self.problem.hidden, self.problem.bias)

    @cached_property
    def _layers(self) -> list[Array]:
        return self._policy.layers([self.parameters])

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values that `from_json` restores exactly."""
        return {
            "problem": self.problem.to_json(),
            "action": self.action_space.to_json(),
            "parameters": self.parameters.tolist(),
            "seen": self.statistics.to_json(),  # the key of all files written so far
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LearnedPolicy:
        """Restore what `to_json` wrote; a ValueError if its parts do not fit each other."""
        policy = cls(
            PolicyProblem.from_json(data["problem"]),
            np.array(data["parameters"], dtype=float),
            ObservationStatistics.from_json(data["seen"]),
            ActionSpace.from_json(data["action"]),
        )
        mean, squares = policy.statistics.mean, policy.statistics.squares
        needed = policy._policy.dim
        if policy.parameters.shape != (needed,):
            raise ValueError(
                f"expected {needed} parameters, found the shape {policy.parameters.shape}"
            )
        if mean.ndim != 1 or squares.shape != mean.shape or (squares < 0).any():
            raise ValueError("invalid observation statistics")
        if not all(np.isfinite(part).all() for part in (policy.parameters, mean, squares)):
            raise ValueError("contains non-finite values")
        return policy

    def save(self, folder: str | Path, **more: Any) -> Path:
        """Write `policy.json` into a folder, with further JSON values `more`; return its path."""
        file = Path(folder) / FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}.part")
        try:
            partial.write_text(json.dumps({**self.to_json(), **more}))
            partial.replace(file)
        finally:
            partial.unlink(missing_ok=True)
        return file


def load_policy(folder: str | Path) -> LearnedPolicy:
    """Load a policy that `zorank rl --out FOLDER` or the studio saved, from its folder or file."""
    try:
        file = Path(folder)
        file = file / FILE if file.is_dir() else file
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"folder must be the path of a folder or a policy.json, found {short(folder)}"
        ) from error
    try:
        return LearnedPolicy.from_json(json.loads(file.read_text()))
    except FileNotFoundError as error:
        raise InvalidInput(
            f"there is no policy in {str(folder)!r}; `zorank rl ENV --out FOLDER` writes one"
        ) from error
    except OSError as error:
        raise InvalidInput(f"{str(file)!r} cannot be read: {error}") from error
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise InvalidInput(f"{str(file)!r} is not a policy that zorank wrote: {error}") from error
