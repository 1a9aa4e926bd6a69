"""What (m, k) gained in the benchmark, beside what theory says of it: read by `zorank plan`.

The file is part of the package, so that advice needs no benchmark; a maintainer writes it with
`zorank bench judges --update-measured`. It holds what was gained after every answer, not per
minute: whoever plans has seconds of their own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from zorank import planning
from zorank.errors import InvalidInput
from zorank.planning import DEFAULT_COSTS, Costs

FILE = Path(__file__).with_name("measured.json")


@dataclass(frozen=True)
class Gained:
    """What showing m and having k ranked gained, a mean over tastes and seeds.

    Attributes:
        m: candidates of a slate.
        k: how many were ranked; None is all.
        noise: of the judges, in standard deviations of utility among random pictures.
        gains: the best's utility after the first slate and each round, in those units.
        standard_error: of the last of them.
    """

    m: int
    k: int | None
    noise: float
    gains: tuple[float, ...]
    standard_error: float | None

    @property
    def gain(self) -> float:
        """What was gained in the end."""
        return self.gains[-1]

    @property
    def pictures(self) -> int:
        """How many pictures were looked at."""
        return self.m * len(self.gains)

    @property
    def comparisons(self) -> int:
        """How many comparisons a person made, who only picks from the first slate."""
        first = planning.comparisons_to_rank(self.m, 1)
        each = planning.comparisons_to_rank(self.m, self.m if self.k is None else self.k)
        return first + (len(self.gains) - 1) * each

    def ranks(self, k: int) -> bool:
        """Whether the best k were ranked; who ranks all but one ranks all."""
        return k == self.k if self.k is not None else k in (self.m - 1, self.m)

    def seconds_a_round(self, costs: Costs = DEFAULT_COSTS) -> float:
        """A person's time for one round."""
        k = self.m if self.k is None else self.k
        return planning.plan(self.m, k, self.m, costs).seconds

    def minutes(self, costs: Costs = DEFAULT_COSTS) -> float:
        """A person's time for all of it."""
        return float(self._clock(costs)[-1])

    def gain_within(self, minutes: float, costs: Costs = DEFAULT_COSTS) -> float:
        """What was gained by then."""
        return float(np.interp(minutes, self._clock(costs), (0.0, *self.gains)))

    def _clock(self, costs: Costs) -> np.ndarray:
        first = planning.plan(self.m, 1, self.m, costs).seconds
        rounds = np.arange(len(self.gains)) * self.seconds_a_round(costs)
        return np.concatenate([[0.0], (first + rounds) / 60])


@dataclass(frozen=True)
class Measured:
    """The rows of one benchmark and what they hold for.

    Attributes:
        dim: the dimension of a candidate.
        pictures: how many each person looked at, at most.
        seeds: sessions for each row and taste.
        first_seed: the first of them.
        quick: whether it was the small benchmark.
        revision: of the optimizer, rank-process.
        rows: one for each (m, k) and noise.
    """

    dim: int
    pictures: int
    seeds: int
    first_seed: int
    quick: bool
    revision: int
    rows: tuple[Gained, ...]

    def to_json(self) -> str:
        """What `from_json` reads back; gains are rounded to what the errors leave of them."""
        data = asdict(self)
        for row in data["rows"]:
            row["gains"] = [round(gain, 3) for gain in row["gains"]]
            if row["standard_error"] is not None:
                row["standard_error"] = round(row["standard_error"], 3)
        rows = ",\n  ".join(json.dumps(row) for row in data.pop("rows"))
        return f'{json.dumps(data)[:-1]}, "rows": [\n  {rows}\n]}}'

    @classmethod
    def from_json(cls, text: str) -> Measured:
        """What `to_json` wrote."""
        data = json.loads(text)
        rows = (Gained(**{**row, "gains": tuple(row["gains"])}) for row in data.pop("rows"))
        return cls(**data, rows=tuple(rows))


def packaged() -> Measured | None:
    """The measurements that came with this version of zorank; None if it came without."""
    try:
        return Measured.from_json(FILE.read_text())
    except FileNotFoundError:
        return None


@dataclass(frozen=True)
class Offer:
    """An (m, k) and what it gains, a row for each noise, compared at the same number of minutes.

    Attributes:
        rows: its measurements.
        gain: the mean over them of what is gained within the minutes compared at.
    """

    rows: tuple[Gained, ...]
    gain: float


def compare(rows: Sequence[Gained], costs: Costs = DEFAULT_COSTS) -> tuple[float, list[Offer]]:
    """The minutes of the shortest session, and every (m, k), the most gained by then first.

    Equal pictures are not equal effort: a session that shows two at a time takes longer.
    """
    if not rows:
        raise InvalidInput("there are no measurements to compare")
    minutes = min(row.minutes(costs) for row in rows)
    grouped: dict[tuple[int, int | None], list[Gained]] = {}
    for row in rows:
        grouped.setdefault((row.m, row.k), []).append(row)
    offers = [
        Offer(tuple(group), float(np.mean([row.gain_within(minutes, costs) for row in group])))
        for group in grouped.values()
    ]
    return minutes, sorted(offers, key=lambda offer: -offer.gain)


def advise(offers: Sequence[Offer], costs: Costs = DEFAULT_COSTS, slack: float = 0.05) -> Offer:
    """The least tiring (m, k) whose gain is within `slack` of the most."""
    good = [offer for offer in offers if offer.gain >= (1 - slack) * offers[0].gain]
    return min(good, key=lambda offer: offer.rows[0].seconds_a_round(costs))
