"""The study `zorank bench noise`: auto against ZO-RankSGD with a noisy judge, d = 100.

ZO-RankSGD has the settings that `zorank reproduce noise` chose on other seeds, and both have the
seeds that it reported: they are read from the file noise.json that it writes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zorank import optimizers
from zorank.errors import InvalidInput, check_names, unreadable
from zorank.experiments.paper.curve_figures import ratio_claims
from zorank.experiments.paper.curve_panels import PROBLEM_NAMES
from zorank.experiments.paper.curves import VERSION, Curves, Setting, Trial, follow, trials_of
from zorank.experiments.report import Report
from zorank.experiments.sweep import Row, Sweep

OURS, RIVAL = "auto", "zo-ranksgd"
DIM = 100
POINTS = 10_000

SWEEP = Sweep("auto-noise", follow, VERSION)


@dataclass(frozen=True)
class Case:
    """A problem, a noise, and the setting of ZO-RankSGD that was chosen for them.

    Attributes:
        problem: a name in `PROBLEM_NAMES`.
        noise: the standard deviation of the noise.
        rival: the setting of ZO-RankSGD.
        seeds: of the runs of both methods.
        points: the number of candidates of each run.
    """

    problem: str
    noise: float
    rival: Setting
    seeds: tuple[int, ...]
    points: int

    @property
    def where(self) -> str:
        """The case in words."""
        return f"{PROBLEM_NAMES[self.problem]}, noise {self.noise:g}"

    def trials(self, setting: Setting) -> list[Trial]:
        """Return one trial per seed."""
        return trials_of(self.problem, DIM, setting, self.points, self.seeds, self.noise)


def cases_of(file: Path, points: int = POINTS) -> list[Case]:
    """Return the cases of a file that `zorank reproduce noise` wrote."""
    with unreadable(f"{file} has no tuned settings", "pass noise.json of zorank reproduce noise"):
        lines = json.loads(file.read_text(encoding="utf-8"))["lines"]
        cases = [
            Case(
                line["problem"],
                line["noise"],
                Setting(RIVAL, tuple(line["options"].items())),
                tuple(line["seeds"]),
                points,
            )
            for line in lines
            if line["method"] == RIVAL
        ]
        check_names("problem", [case.problem for case in cases], PROBLEM_NAMES)
    if not cases:
        raise InvalidInput(
            f"{file} has no settings of {RIVAL}; pass noise.json of zorank reproduce noise"
        )
    return cases


def trials(cases: Sequence[Case]) -> list[Trial]:
    """Return the trials of both methods."""
    return [t for case in cases for setting in _settings(case) for t in case.trials(setting)]


def _settings(case: Case) -> tuple[Setting, Setting]:
    return Setting(OURS), case.rival


def report(cases: Sequence[Case], rows: Mapping[Trial, Row]) -> Report:
    """Build the report: how many times lower f is with auto, in each case."""
    pairs = {
        case: [Curves.of(case.trials(setting), rows) for setting in _settings(case)]
        for case in cases
    }
    claims = [
        claim
        for case, (ours, theirs) in pairs.items()
        for claim in ratio_claims(
            "auto ahead of ZO-RankSGD", "", case.where, ours, theirs, [case.points]
        )
    ]
    return Report(
        name="auto-noise",
        title="auto and tuned ZO-RankSGD with a noisy judge",
        claims=claims,
        summary={
            "command": "zorank bench noise",
            "revision": optimizers.REGISTRY[OURS].revision,
            "seeds": len(cases[0].seeds),
            "points": cases[0].points,
            "rows": [
                {"where": case.where}
                | {c.setting.method: float(c.at(case.points).mean()) for c in pair}
                for case, pair in pairs.items()
            ],
            "claims": [claim.to_json() for claim in claims],
        },
        draw=lambda figure: draw(figure, pairs),
        measure="Ratios of values at the best point, ZO-RankSGD / auto",
    )


def draw(figure: Any, pairs: Mapping[Case, Sequence[Curves]]) -> None:
    """Draw the mean value at the best point against points, one panel per case."""
    figure.set_size_inches(3 * len(pairs) / 2 + 0.6, 5)
    panels = figure.subplots(2, (len(pairs) + 1) // 2, squeeze=False).ravel()
    for axes, (case, pair) in zip(panels, pairs.items(), strict=False):
        for curves in pair:
            axes.loglog(curves.points, curves.values.mean(axis=0), label=curves.setting.method)
        axes.set_title(case.where, fontsize=8)
        axes.grid(alpha=0.2, lw=0.6)
    panels[0].legend(frameon=False, fontsize=7)
