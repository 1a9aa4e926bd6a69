"""Training in a folder, as `zorank rl` does: it resumes, evaluates on the way and saves results.

The folder gets `run.db` (the log), `policy.json` (the policy), `curve.csv` (rewards).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import Any

from zorank import optimizers
from zorank.errors import InvalidInput, ReplayError, StaleAnswer
from zorank.protocols import AnyOptimizer
from zorank.rl.clips import Shot, encode, film_frames
from zorank.rl.environments import MAX_STEPS
from zorank.rl.problem import FIRST_HELD_OUT, PolicyProblem
from zorank.rl.recipes import PAPER, default_ranked_steps, recipe, settings_for
from zorank.rl.saved import FILE, LearnedPolicy
from zorank.rl.search import PolicySearch
from zorank.stores import open_store

LOG = "run.db"
RUN = "policy"
"""The run's name in its store."""
EPISODES = 500
"""The default budget in whole episodes; more if only their first steps are simulated."""
EVALUATIONS = 20
"""How often the reward is evaluated during training."""
EVALUATION_INTERVAL = 30.0
"""Seconds after which the reward is evaluated in any case."""


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a training, which are the options of `zorank rl`.

    Attributes:
        env: the id of a Gymnasium environment.
        method: an optimizer's name; None is the best one known for the environment.
        options: settings of the optimizer, over the known ones.
        seed: the seed of the run.
        hidden: the widths of hidden layers.
        bias: whether each layer adds a constant.
        raw: observations are not normalised.
        unclipped: actions are not clipped.
        independent: each episode of a round starts from a reset of its own.
        steps: the number of steps of an episode; None is the environment's own limit.
        ranked_steps: how many steps are simulated to rank an episode; 0 is all, None is the
            number known to suffice.
        paper: the paper's settings.
        record_values: whether rewards are evaluated and kept in the folder.
    """

    env: str
    method: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    hidden: tuple[int, ...] = ()
    bias: bool = False
    raw: bool = False
    unclipped: bool = False
    independent: bool = False
    steps: int | None = None
    ranked_steps: int | None = None
    paper: bool = False
    record_values: bool = True

    def problem(self, stored: PolicyProblem | None = None) -> PolicyProblem:
        """Return the problem; a stored one decides `ranked_steps` unless it is given."""
        ranked_steps = self.ranked_steps
        if ranked_steps is None and stored is not None:
            ranked_steps = stored.ranked_steps
        elif ranked_steps is None and not self.paper:
            ranked_steps = default_ranked_steps(self.env)
        return PolicyProblem(
            self.env,
            hidden=self.hidden,
            bias=self.bias or self.paper,
            normalise=not (self.raw or self.paper),
            shared=not (self.independent or self.paper),
            horizon=self.steps,
            clip=not (self.unclipped or self.paper),
            ranked_steps=ranked_steps or None,
        )

    def optimizer(self) -> AnyOptimizer:
        """Return the optimizer: the known settings if it is the known one, then `options`."""
        m = self.options.get("m")
        if self.paper:
            known, settings = PAPER[0], settings_for(PAPER[1], m)
        else:
            known, settings = recipe(self.env, m)
        defaults = settings if self.method in (None, known) else {}
        return optimizers.make(self.method or known, {**defaults, **self.options})


@dataclass(frozen=True)
class Progress:
    """The progress of a training.

    Attributes:
        done: rounds, or episodes if no number of rounds was given.
        total: how many of them there will be.
        reward: the reward of the current policy, if it was just evaluated.
    """

    done: int
    total: int
    reward: float | None = None


def open_search(settings: TrainingSettings, folder: Path) -> PolicySearch:
    """Start a search in a folder, or continue the one that is there."""
    stored = _stored_problem(folder)
    problem = settings.problem(stored)
    _ = problem.dim  # an unknown environment is an error before the folder is made
    optimizer = settings.optimizer()
    if (folder / FILE).exists() and stored is None:
        raise InvalidInput(
            f"{folder} contains a policy without its run; give --out another folder"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"the folder {folder} cannot be made: {error}") from error
    try:
        return PolicySearch(
            problem, optimizer, settings.seed, str(folder / LOG), RUN, settings.record_values
        )
    except ReplayError as error:
        raise ReplayError(
            f"{folder} contains a run with different settings: {error}. Give --out another folder "
            "to start a new run"
        ) from error


def _stored_problem(folder: Path) -> PolicyProblem | None:
    """Return the problem of the run in a folder, if there is one."""
    if not (folder / LOG).is_file():
        return None
    records = {record.name: record for record in open_store(str(folder / LOG)).runs()}
    data = records[RUN].meta.get("policy") if RUN in records else None
    return None if data is None else PolicyProblem.from_json(data)


def train(search: PolicySearch, folder: Path, rounds: int | None = None) -> Iterator[Progress]:
    """Continue a search up to a number of rounds, or else the default budget of episodes.

    The reward is evaluated at the start, at the end and in between; each time the policy is saved.
    """
    total = rounds or round(EPISODES / search.problem.ranked_share)
    last_share, last_time = -1.0, 0.0
    with _plain_errors(folder):
        while True:
            done = min(len(search.run.history) if rounds else search.episodes, total)
            yield Progress(done, total)
            share = done / total
            is_due = share - last_share >= 1 / EVALUATIONS
            if is_due or monotonic() - last_time >= EVALUATION_INTERVAL or share == 1:
                yield Progress(done, total, evaluate(search, folder))
                last_share, last_time = share, monotonic()
            if share == 1:
                return
            search.step()


def evaluate(search: PolicySearch, folder: Path) -> float | None:
    """Evaluate the current policy on held-out resets and save it; return its reward.

    A search that records no values is saved only.
    """
    reward = search.reward() if search.record_values else None
    known: dict[str, Any] = {}
    if reward is not None:
        known["reward"] = reward if isfinite(reward) else None
    with _plain_errors(folder):
        search.policy().save(folder, episodes=search.episodes, **known)
    return reward


@contextmanager
def _plain_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except StaleAnswer as error:
        raise StaleAnswer(
            f"another process is training in {folder}; wait until it ends ({error})"
        ) from error
    except OSError as error:
        raise InvalidInput(
            f"{folder} cannot be written to ({error}); the run is saved in its {LOG}"
        ) from error


def save_curve(search: PolicySearch, folder: Path) -> list[dict[str, Any]]:
    """Write `curve.csv`, a row for each evaluation, and return its rows."""
    rows = search.curve()
    try:
        with (folder / "curve.csv").open("w", newline="") as stream:
            table = csv.DictWriter(stream, ["round", "episodes", "reward"])
            table.writeheader()
            table.writerows(rows)
    except OSError as error:
        raise InvalidInput(f"the curve cannot be written: {error}") from error
    return rows


def save_clip(policy: LearnedPolicy, file: Path, seconds: float) -> float:
    """Film an episode from a held-out reset, write it as an MP4, and return its seconds."""
    max_steps = policy.problem.horizon or MAX_STEPS
    shot = Shot(policy.problem.env, FIRST_HELD_OUT, seconds, 360, 480, max_steps)
    frames, rate = film_frames(shot, policy)
    file.write_bytes(encode(frames, rate))
    return len(frames) / rate
