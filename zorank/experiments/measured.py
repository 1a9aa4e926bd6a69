"""The measured gains of (m, k), which `zorank plan` shows next to the theory.

The measurements are a file of the package; a maintainer writes it with `zorank bench judges
--update-measured`. It contains the gain after every answer rather than per minute, since the user
of `zorank plan` chooses the seconds that an answer takes.
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
    """The gain of showing m candidates and ranking k, averaged over tastes and seeds.

    Attributes:
        m: candidates of a slate.
        k: how many were ranked; None is all.
        noise: of the raters, in standard deviations of utility among random pictures.
        gains: utility of the best after the first slate and each round, in the same units.
        standard_error: of the last of them.
    """

    m: int
    k: int | None
    noise: float
    gains: tuple[float, ...]
    standard_error: float | None

    @property
    def gain(self) -> float:
        """The final gain."""
        return self.gains[-1]

    @property
    def pictures(self) -> int:
        """The number of pictures shown."""
        return self.m * len(self.gains)

    @property
    def comparisons(self) -> int:
        """The number of comparisons, if the rater only picks the best of the first slate."""
        first = planning.comparisons_to_rank(self.m, 1)
        each = planning.comparisons_to_rank(self.m, self.m if self.k is None else self.k)
        return first + (len(self.gains) - 1) * each

    def ranks(self, k: int) -> bool:
        """Return whether the best k were ranked; ranking all but one is ranking all."""
        return k == self.k if self.k is not None else k in (self.m - 1, self.m)

    def seconds_a_round(self, costs: Costs = DEFAULT_COSTS) -> float:
        """Return the rater's time for one round."""
        k = self.m if self.k is None else self.k
        return planning.plan(self.m, k, self.m, costs).seconds

    def minutes(self, costs: Costs = DEFAULT_COSTS) -> float:
        """Return the rater's time for the whole session."""
        return float(self._clock(costs)[-1])

    def gain_within(self, minutes: float, costs: Costs = DEFAULT_COSTS) -> float:
        """Return the gain after this time."""
        return float(np.interp(minutes, self._clock(costs), (0.0, *self.gains)))

    def _clock(self, costs: Costs) -> np.ndarray:
        first = planning.plan(self.m, 1, self.m, costs).seconds
        rounds = np.arange(len(self.gains)) * self.seconds_a_round(costs)
        return np.concatenate([[0.0], (first + rounds) / 60])


@dataclass(frozen=True)
class Measured:
    """The measurements of one benchmark and its settings.

    Attributes:
        dim: the dimension of a candidate.
        pictures: the maximum number of pictures per session.
        seeds: sessions per row and taste.
        first_seed: the first seed.
        quick: whether it was the small benchmark.
        revision: of the optimizer, rank-process.
        rows: one per (m, k) and noise.
    """

    dim: int
    pictures: int
    seeds: int
    first_seed: int
    quick: bool
    revision: int
    rows: tuple[Gained, ...]

    def to_json(self) -> str:
        """Return JSON for `from_json`; gains are rounded to three decimals."""
        data = asdict(self)
        for row in data["rows"]:
            row["gains"] = [round(gain, 3) for gain in row["gains"]]
            if row["standard_error"] is not None:
                row["standard_error"] = round(row["standard_error"], 3)
        rows = ",\n  ".join(json.dumps(row) for row in data.pop("rows"))
        return f'{json.dumps(data)[:-1]}, "rows": [\n  {rows}\n]}}'

    @classmethod
    def from_json(cls, text: str) -> Measured:
        """Read the output of `to_json`."""
        data = json.loads(text)
        rows = (Gained(**{**row, "gains": tuple(row["gains"])}) for row in data.pop("rows"))
        return cls(**data, rows=tuple(rows))


def packaged() -> Measured | None:
    """Return the measurements of this version of zorank; None if there are none."""
    try:
        return Measured.from_json(FILE.read_text())
    except FileNotFoundError:
        return None


def write(measured: Measured) -> None:
    """Write measurements into the package."""
    try:
        FILE.write_text(measured.to_json() + "\n")
    except OSError as error:
        raise InvalidInput(f"{FILE} cannot be written: {error.strerror}") from error


@dataclass(frozen=True)
class Offer:
    """A choice of (m, k) and its gain after a given time.

    Attributes:
        rows: its measurements, one per noise.
        gain: the mean gain of the rows after that time.
    """

    rows: tuple[Gained, ...]
    gain: float


def compare(rows: Sequence[Gained], costs: Costs = DEFAULT_COSTS) -> tuple[float, list[Offer]]:
    """Compare every (m, k) after the minutes of the shortest session; return the best first.

    Sessions are compared at equal time, because equal numbers of pictures take different times.
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
    """Return the (m, k) with the shortest round whose gain is within `slack` of the best."""
    good = [offer for offer in offers if offer.gain >= (1 - slack) * offers[0].gain]
    return min(good, key=lambda offer: offer.rows[0].seconds_a_round(costs))
