"""Optuna's trials as rounds of a run.

A trial says in a system attribute which round and position it evaluates. The state is a fold of
the study's trials, as that of a run is a fold of its log: any process that opens the study, also
after a crash, reaches the same state. A round ends when all of its trials have finished. While
some are running, further trials are extra: they are drawn around the best point and not ranked.
Once a round has had as many extra trials as candidates, it ends without trials that still run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial, TrialState

from zorank._told import value_ranks
from zorank.integrations._optuna_space import Coordinates
from zorank.protocols import AnyOptimizer
from zorank.run import Run
from zorank.slates import Slate
from zorank.types import Answer, Ranking, Vector

KEY = "zorank:place"
"""The system attribute of a trial."""

MAX_LATE = 200
"""A system attribute has at most 2,045 characters in a database."""

Told = dict[int, FrozenTrial]
"""The finished trials of a round by position."""


@dataclass(frozen=True)
class Place:
    """The place of a trial in a run: a round and a position on its slate.

    Attributes:
        space: the digest of the search space.
        seed: the seed of the run.
        round: the index of the round.
        position: the position on the slate; None for an extra trial.
        late: positions of the round before that had not finished when that round ended.
    """

    space: str
    seed: int
    round: int = 0
    position: int | None = None
    late: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "late": list(self.late)}


@dataclass
class Rounds:
    """The trials of one search space; of several at one round and position, the first counts."""

    seed: int
    trials: list[dict[int, FrozenTrial]] = field(default_factory=list)
    late: list[tuple[int, ...]] = field(default_factory=list)
    extras: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, trials: Sequence[FrozenTrial], space: str, seed: int) -> Rounds:
        """Collect the trials of this search space; `seed` is for a study that has none yet."""
        own = [(t, place) for t in trials if (place := _place(t)) and place["space"] == space]
        rounds = cls(own[0][1]["seed"] if own else seed)
        for trial, place in own:
            index, position = place["round"], place["position"]
            while len(rounds.trials) <= index:
                rounds.trials.append({})
                rounds.late.append(())
                rounds.extras.append(0)
            if position is None:
                rounds.extras[index] += 1
                continue
            if not rounds.trials[index]:
                rounds.late[index] = tuple(place["late"])
            rounds.trials[index].setdefault(position, trial)
        return rounds


class Search:
    """A run over the trials of one search space."""

    def __init__(
        self, optimizer: AnyOptimizer, coordinates: Coordinates, x0: Vector, seed: int, sign: int
    ) -> None:
        self.coordinates = coordinates
        self.seed = seed
        self.run = Run(optimizer, x0, seed)
        self._sign = sign
        self._told: list[dict[int, int]] = []  # the number of the trial at each position

    def fits(self, rounds: Rounds) -> bool:
        """Return whether the rounds told so far are those of the study."""
        count = len(self._told)
        if rounds.seed != self.seed or count >= max(len(rounds.trials), 1):
            return False
        return all(
            {position: t.number for position, t in self._counted(rounds, i).items()} == told
            for i, told in enumerate(self._told)
        )

    def next_place(self, rounds: Rounds) -> Place:
        """Tell the rounds that have ended, and return the place of the next trial."""
        for i in range(len(self._told), len(rounds.trials) - 1):
            self._tell(self._counted(rounds, i))
        space, m = self.coordinates.digest, len(self.run.ask())
        if not rounds.trials:
            return Place(space, self.seed, 0, 0)
        last = len(rounds.trials) - 1
        here = Place(space, self.seed, last, late=rounds.late[last])
        free = sorted(set(range(m)) - set(rounds.trials[last]))
        if free:
            return replace(here, position=free[0])
        running = [i for i, t in rounds.trials[last].items() if not t.state.is_finished()]
        is_overdue = rounds.extras[last] >= m and len(running) <= min(m // 2, MAX_LATE)
        if running and not is_overdue:
            return here
        rounds.trials.append({})
        rounds.late.append(tuple(sorted(running)))
        self._tell(self._counted(rounds, last))
        return Place(space, self.seed, last + 1, 0, rounds.late[-1])

    def point(self, place: Place, rng: np.random.Generator, radius: float) -> Vector:
        """Return the point to evaluate at a place; extra trials are near the best point."""
        if place.position is not None:
            return self.run.ask()[place.position]
        history = self.run.history
        near = float(history[-1].get("radius", radius)) if history else radius
        x = self.run.best() + near * rng.standard_normal(self.coordinates.dim)
        return np.abs(np.mod(x + 1.0, 2.0) - 1.0)  # reflected at 0 and 1

    def _counted(self, rounds: Rounds, i: int) -> Told:
        """Return the trials of round i that count: finished, and not late."""
        late = rounds.late[i + 1]
        return {
            position: trial
            for position, trial in rounds.trials[i].items()
            if position not in late and trial.state.is_finished()
        }

    def _tell(self, told: Told) -> None:
        self.run.tell(self._answer(self.run.ask(), told))
        self._told.append({position: trial.number for position, trial in told.items()})

    def _answer(self, slate: Slate, told: Told) -> Answer:
        """Rank the trials that evaluated this slate.

        Another process may have asked for a trial before it knew how the last round ended; such a
        trial has other parameters, and is not compared.
        """
        own = {
            i: _value(trial, self._sign)
            for i, trial in told.items()
            if i < len(slate) and self.coordinates.is_at(slate[i], trial.params)
        }
        if not own:
            return Ranking.no_difference()
        values = np.full(len(slate), np.nan)
        values[list(own)] = value_ranks(np.array(list(own.values())))
        return slate.answer_from(values)


def _place(trial: FrozenTrial) -> dict[str, Any] | None:
    return trial.system_attrs.get(KEY)


def _value(trial: FrozenTrial, sign: int) -> float:
    """Return the value to minimise; trials that were pruned or failed are last."""
    if trial.state != TrialState.COMPLETE or trial.value is None:
        return np.inf
    return sign * float(trial.value)
