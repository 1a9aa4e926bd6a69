"""Run the trials of an experiment on all cores, and keep the result of each finished one.

A trial is a frozen dataclass of JSON values; one function turns it into a row of results. Trials
are independent. Each finished trial is one line of a file, under a key made of the trial and the
version of the experiment. An interrupted sweep therefore resumes, and a larger sweep computes only
its new trials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from zorank.experiments._trial_log import TrialLog, finished, key_of
from zorank.experiments._workers import computed_rows, progress_bar

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")
Row: TypeAlias = dict[str, Any]
"""The results of one trial: JSON values by name."""


@dataclass(frozen=True)
class Sweep(Generic[T]):
    """The declaration of an experiment's trials: how one is run and where its row is stored.

    Attributes:
        name: rows are stored in FOLDER/NAME.cells.jsonl.
        function: returns the row of a trial. It must be at the top level of a module, so that
            worker processes can import it.
        version: to be changed when the same trial would give another row. If it is expensive to
            compute, pass a function, which is called when the sweep runs.
        kind: the name of the trial's type in the keys of stored rows. Renaming the class must not
            change the keys.
    """

    name: str
    function: Callable[[T], Row]
    version: str | Callable[[], str]
    kind: str = "Trial"

    def run(
        self,
        trials: Iterable[T],
        folder: Path,
        *,
        workers: int | None = None,
        console: Console | None = None,
    ) -> dict[T, Row]:
        """Return the row of each trial, in order; trials stored in `folder` are not rerun.

        Args:
            trials: frozen dataclasses of JSON values.
            folder: where rows are stored.
            workers: number of processes; None is one per core.
            console: where to show a progress bar; None shows none.
        """
        version = self.version if isinstance(self.version, str) else self.version()
        keys = {trial: key_of(trial, version, self.kind) for trial in trials}
        file = folder / f"{self.name}.cells.jsonl"
        rows = finished(file)
        todo = {key: trial for trial, key in keys.items() if key not in rows}
        with (
            TrialLog(file) as log,
            progress_bar(console, self.name, len(keys)) as advance,
            closing(computed_rows(self.function, todo, workers)) as computed,
        ):
            advance(len(keys) - len(todo))
            for key, row in computed:
                log.append(key, todo[key], row)
                rows[key] = row
                advance(1)
        return {trial: rows[key] for trial, key in keys.items()}


__all__ = ["Row", "Sweep", "finished", "key_of"]
