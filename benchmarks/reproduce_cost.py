"""Measures the processor time of the figures of simple functions.

    OMP_NUM_THREADS=1 python benchmarks/reproduce_cost.py FOLDER [--out FILE]

FOLDER holds the results of `zorank reproduce`. Trials of a figure that differ only in their seed,
step sizes and noise take about the same time: one of each kind is run again and its time is
multiplied by their number.
"""

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from rich.progress import track

from zorank.experiments.paper.curves import Setting, Trial, follow

FIGURES = ("simple", "tuning", "mk", "highdim", "noise", "ablations")
SAME_KIND = ("m", "k", "line_search", "sparsity", "diagonal")
"""Options that change the time of a trial."""


def stored_trials(file: Path) -> list[Trial]:
    """Return the trials of a figure, finished ones only."""
    cells = [json.loads(line)["cell"] for line in file.read_text().splitlines()]
    return [Trial(**{**cell, "setting": _setting(cell["setting"])}) for cell in cells]


def _setting(stored: dict[str, Any]) -> Setting:
    return Setting(stored["method"]).with_options(**dict(stored["options"]))


def kind(trial: Trial) -> tuple[Any, ...]:
    """Return what the time of a trial depends on."""
    options = dict(trial.setting.options)
    size = tuple(options.get(name) for name in SAME_KIND)
    return trial.problem, trial.dim, trial.points, trial.noise > 0, trial.setting.method, size


def processor_time(trial: Trial) -> float:
    """Run a trial; return its seconds."""
    begun = time.process_time()
    follow(trial)
    return time.process_time() - begun


def measured(folder: Path) -> dict[str, Any]:
    """Return the number of trials and the minutes of each figure in a folder."""
    found = {}
    for figure in FIGURES:
        kinds = defaultdict(list)
        for trial in stored_trials(folder / f"{figure}.cells.jsonl"):
            kinds[kind(trial)].append(trial)
        seconds = [
            len(trials) * processor_time(trials[len(trials) // 2])
            for trials in track(list(kinds.values()), figure)
        ]
        found[figure] = {
            "trials": sum(len(trials) for trials in kinds.values()),
            "minutes": sum(seconds) / 60,
        }
    return {"figures": found, "minutes": sum(each["minutes"] for each in found.values())}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    result = measured(given.folder)
    text = json.dumps(result, indent=1)
    print(text)
    if given.out:
        given.out.write_text(text + "\n")
