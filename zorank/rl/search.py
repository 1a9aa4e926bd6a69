"""The loop between an optimizer and an environment: a search for a policy from ranked episodes.

Each answer in a run's log carries the observation statistics of all episodes up to it. So the
statistics are part of the state that is folded from the log: undo restores them, and a resumed
run continues exactly where it stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zorank import optimizers
from zorank._privacy import check_same_values, values_meta
from zorank.errors import InvalidInput, ReplayError, short
from zorank.protocols import AnyOptimizer, Store
from zorank.rl.environments import Episodes
from zorank.rl.observation_statistics import ObservationStatistics
from zorank.rl.problem import EpisodeBatch, PolicyProblem, losses
from zorank.rl.recipes import recipe
from zorank.rl.saved import LearnedPolicy
from zorank.run import Run
from zorank.stores import as_store


class PolicySearch:
    """A search for a policy, one round of ranked episodes at a time.

    Args:
        problem: the environment and the kind of policy.
        optimizer: an optimizer or its name; None is the best one known for the environment.
        seed: draws the candidates and the resets.
        store: where the log is kept; None keeps it in memory.
        name: the run's name in the store; an existing run is continued.
        record_values: whether the log keeps rewards and mean returns beside the rankings.
    """

    def __init__(
        self,
        problem: PolicyProblem,
        optimizer: AnyOptimizer | str | None = None,
        seed: int = 0,
        store: Store | str | None = None,
        name: str | None = None,
        record_values: bool = True,
    ) -> None:
        if not isinstance(problem, PolicyProblem):
            raise InvalidInput(f"problem must be a PolicyProblem, found {short(problem)}")
        self.problem = problem
        self.record_values = record_values
        if optimizer is None:
            optimizer = optimizers.make(*recipe(problem.env))
        opened = as_store(store)
        _check_same_problem(problem, opened, name)
        made = optimizers.make(optimizer) if isinstance(optimizer, str) else optimizer
        meta = {"policy": problem.to_json()} | values_meta(record_values, made, problem.start())
        self.run = Run(optimizer, problem.start(), seed, opened, name, meta=meta)
        self._evaluated: tuple[tuple[int, bytes], float] | None = None
        check_same_values(self.run, record_values)

    @property
    def statistics(self) -> ObservationStatistics:
        """The observation statistics of all ranked episodes."""
        last = self.run.history[-1:]
        if not last:
            return self.problem.initial_statistics()
        return ObservationStatistics.from_json(last[0]["seen"])

    @property
    def episodes(self) -> int:
        """The number of ranked episodes."""
        return self.run.points

    def step(self) -> Mapping[str, Any]:
        """Run one round: simulate its episodes, tell their order; return its row of history."""
        return self.tell(self.problem.episodes(*self.next_batch()))

    def next_batch(self) -> EpisodeBatch:
        """Return the candidates, resets and statistics of the next round."""
        return EpisodeBatch(list(self.run.ask()), self.resets(), self.statistics)

    def resets(self) -> list[int]:
        """Return the reset seeds of the next round."""
        index, m = len(self.run.history), len(self.run.ask())
        return self.problem.resets(self.run.record.seed, index, m)

    def tell(self, episodes: Episodes) -> Mapping[str, Any]:
        """Tell the optimizer the order of the next round's episodes; return its row of history."""
        slate, statistics, reward = self.run.ask(), self.statistics, self._last_reward()
        returns = episodes.returns
        if len(returns) != len(slate):
            raise InvalidInput(f"the next round has {len(slate)} episodes, found {len(returns)}")
        finite = returns[np.isfinite(returns)]
        diverged = reward is not None and not np.isfinite(reward)
        note: dict[str, Any] = {  # the keys of all logs written so far
            "reward_before": None if diverged else reward,
            "lost_before": diverged,
            "seen": (statistics + episodes.statistics).to_json(),
            "mean_return": float(finite.mean()) if finite.size else None,
            "diverged": int(returns.size - finite.size),
        }
        if not self.record_values:
            note = {"seen": note["seen"]}
        self.run.tell(slate.answer_from(losses(returns)), note=note)
        return self.run.history[-1]

    def reward(self, episodes: int = 10) -> float:
        """Return the current policy's mean return on held-out resets.

        The optimizer never gets it. The log records it with the next answer, for the curve.
        """
        reward = self.problem.reward(self.run.best(), self.statistics, episodes)
        self._evaluated = self._version(), reward
        return reward

    def _version(self) -> tuple[int, bytes]:
        """Identify the current policy; after an undo, a round index may mean another policy."""
        return len(self.run.history), self.run.best().tobytes()

    def _last_reward(self) -> float | None:
        """Return the reward of the current policy, if it was evaluated."""
        evaluated = self._evaluated
        return evaluated[1] if evaluated and evaluated[0] == self._version() else None

    def curve(self) -> list[dict[str, Any]]:
        """Return each evaluation: the round, the episodes ranked by then, the reward.

        The reward is −inf if an episode diverged.
        """
        history = self.run.history
        rewards = [
            -np.inf if row.get("lost_before") else row.get("reward_before") for row in history
        ]
        episodes = [0, *(row["points"] for row in history)]
        return [
            {"round": index, "episodes": episodes[index], "reward": reward}
            for index, reward in enumerate([*rewards, self._last_reward()])
            if reward is not None
        ]

    def policy(self) -> LearnedPolicy:
        """Return the current policy as a function of an observation."""
        space = self.problem.environment.action_space
        return LearnedPolicy(self.problem, self.run.best(), self.statistics, space)


def step_together(searches: Sequence[PolicySearch]) -> None:
    """Run one round of each search, with all episodes simulated in one batch.

    The results are those of separate steps, bit for bit, in less time.

    Args:
        searches: different searches on the same problem.
    """
    _check_same_problems(searches)
    batches = [search.next_batch() for search in searches]
    results = searches[0].problem.batched_episodes(batches)
    for search, episodes in zip(searches, results, strict=True):
        search.tell(episodes)


def rewards(searches: Sequence[PolicySearch], episodes: int = 10) -> list[float]:
    """Return each search's reward on held-out resets; their logs do not record it."""
    _check_same_problems(searches)
    policies = [(search.run.best(), search.statistics) for search in searches]
    return searches[0].problem.rewards(policies, episodes)


def _check_same_problems(searches: Sequence[PolicySearch]) -> None:
    problems = {search.problem for search in searches}
    if len(problems) != 1 or len({id(search) for search in searches}) != len(searches):
        raise InvalidInput(
            "a batch needs different searches on one problem, found "
            f"{len(searches)} searches on {len(problems)} problems"
        )


def _check_same_problem(problem: PolicyProblem, store: Store, name: str | None) -> None:
    """Raise ReplayError if the store has a run of this name on another problem."""
    if name is None or name not in [record.name for record in store.runs()]:
        return
    stored = store.record(name).meta.get("policy")
    if stored is None:
        raise ReplayError(f"the stored run {name!r} is not a policy search; use another name")
    before, now = PolicyProblem.from_json(stored).to_json(), problem.to_json()
    changes = [
        f"{key} was {before[key]!r}, is {now[key]!r}" for key in now if before[key] != now[key]
    ]
    if changes:
        raise ReplayError(
            f"the stored run searches for another policy ({', '.join(changes)}); keep "
            "its settings, or use another name or store"
        )
