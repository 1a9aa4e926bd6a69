"""A learned policy in a file, and as a function."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from zorank.errors import InvalidInput
from zorank.problems.policies.moments import Moments
from zorank.problems.policies.policy import Action, Array, Policy
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

    def save(self, folder: str | Path, **more: Any) -> Path:
        """Write it, and whatever else is worth keeping, into a folder."""
        file = Path(folder) / FILE
        file.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "problem": asdict(self.problem),
            "action": asdict(self.action),
            "parameters": self.parameters.tolist(),
            "seen": self.seen.as_note(),
            **more,
        }
        partial = file.with_suffix(".part")
        partial.write_text(json.dumps(content))
        partial.replace(file)
        return file


def load_policy(folder: str | Path) -> LearnedPolicy:
    """What `zorank rl --out FOLDER` saved: a function of an observation that gives an action."""
    file = Path(folder)
    file = file / FILE if file.is_dir() else file
    try:
        content: Mapping[str, Any] = json.loads(file.read_text())
        return LearnedPolicy(
            PolicyProblem(**content["problem"]),
            np.array(content["parameters"], dtype=float),
            Moments.from_note(content["seen"]),
            Action(tuple(content["action"]["shape"]), content["action"]["first"]),
        )
    except FileNotFoundError as error:
        raise InvalidInput(
            f"there is no policy in {str(folder)!r}; `zorank rl ENV --out FOLDER` writes one"
        ) from error
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise InvalidInput(f"{str(file)!r} is not a policy that zorank wrote: {error}") from error
