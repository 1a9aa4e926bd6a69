"""The loop of `minimize`: from one start, or from several."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import rng
from zorank._arrays import is_whole
from zorank._objectives import Judge
from zorank._privacy import KEY as VALUES_KEY
from zorank._privacy import check_same_values
from zorank._progress import progress_bar, stops
from zorank._results import Result
from zorank._setup import KEY, space_of_run
from zorank._stopping import Stopping
from zorank.errors import InvalidInput, ReplayError, short
from zorank.optimizers.settings import make_space
from zorank.protocols import AnyOptimizer
from zorank.run import Run
from zorank.slates import Box
from zorank.types import Vector, as_vector

if TYPE_CHECKING:
    from concurrent.futures import Executor

MAX_STARTS = 10_000


def check_starts(starts: Any) -> int:
    """Return the number of starts; raise unless it is a whole number from 1."""
    if not is_whole(starts) or not 1 <= starts <= MAX_STARTS:
        raise InvalidInput(
            f"starts must be a whole number from 1 to {MAX_STARTS}, found {short(starts)}"
        )
    return int(starts)


@contextmanager
def pool(workers: int | None) -> Iterator[Executor | None]:
    """Open worker processes; after an error, close them without waiting for their tasks."""
    if workers is None:
        yield None
        return
    from zorank.executors import Processes  # slow to import, rarely needed

    with Processes(workers) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise


@dataclass(frozen=True, eq=False)
class Search:
    """A search of `minimize`.

    Attributes:
        judge: evaluates slates.
        optimizer: of every start.
        stopping: when to stop early.
        seed: of the first start; the others have seeds that follow from it.
        callback: takes the result so far.
        progress: whether to show a bar.
        meta: what the run stores about its objective.
    """

    judge: Judge
    optimizer: AnyOptimizer
    stopping: Stopping
    seed: int
    callback: Callable[[Result], Any] | None
    progress: bool
    meta: Mapping[str, Any]

    def from_starts(
        self, starts: int, x0: Any, points: int, store: Any, name: str | None
    ) -> Result:
        """Search from x0, or from several starts, and return the best result."""
        if starts == 1:
            return self.run(x0, points, store, name)
        if starts > points:
            raise InvalidInput(
                f"starts must be at most points, because every start is evaluated; found {starts} "
                f"starts and {points} points"
            )
        results: list[Result] = []
        first = as_vector(x0, "x0")
        for i in range(starts):
            seed = self.seed if i == 0 else _seed(self.seed, i)
            named = name if name is None or i == 0 else f"{name}-start-{i}"
            start = first if i == 0 else self._random_start(first, seed)
            search = replace(self, seed=seed)
            results.append(search.run(start, max(points // starts, 1), store, named))
            if results[-1].message.startswith("stopped by the callback"):
                break
        best = min(results, key=self._rank)
        total = sum(result.points for result in results)
        best.message = f"best of {len(results)} starts: {best.message}"
        best.points, best.rounds = total, sum(result.rounds for result in results)
        return best

    def run(self, x0: Any, points: int, store: Any, name: str | None) -> Result:
        """Search from one start."""
        run = Run(self.optimizer, x0, self.seed, store, name, meta=self.meta)
        check_objective(run, self.meta)
        check_same_values(run, bool(self.meta.get(VALUES_KEY, True)))
        space_of_run(run.record, {KEY: self.meta.get(KEY)})
        better = max if self.judge.maximize else min
        history = with_best(run.history, better)

        def result(message: str, success: bool) -> Result:
            made = (run.best(), run.points, len(history), message, success, list(history), run)
            return Result(*made, self.judge.value)

        reason = self._reason_of_resumed(run, history)
        if reason is not None:
            return self._judged(result(f"stopped after {run.points} points: {reason}", True))
        with progress_bar(self.progress, points, "points", "best") as show:
            while run.points + len(slate := run.ask()) <= points:
                answer, note = self.judge.answer(slate)
                run.tell(answer, note=note if self.meta.get(VALUES_KEY, True) else None)
                history += with_best([run.latest | note], better, history)
                best = history[-1]["best"]
                show(run.points, float("nan") if best is None else best)
                if self.callback is not None and stops(self.callback, result("running", False)):
                    return result("stopped by the callback", False)
                reason = self.stopping.reason(history, slate, run.best)
                if reason is not None:
                    return self._judged(
                        result(f"stopped after {run.points} points: {reason}", True)
                    )
        if run.points == 0:
            return result(f"{points} points are fewer than the {len(slate)} of one slate", False)
        return self._judged(result(f"stopped at the limit of {points} points", True))

    def _reason_of_resumed(self, run: Run, history: Sequence[Mapping[str, Any]]) -> str | None:
        """Return why a resumed run has stopped already; None continues."""
        if self.stopping.xtol is None or not history:
            return self.stopping.impatient(history)
        ((_, slate, _),) = deque(run.replay(), maxlen=1)
        return self.stopping.reason(history, slate, run.best)

    def _judged(self, result: Result) -> Result:
        """Add to the message if no value was finite, or if x is infeasible."""
        violation = self.judge.violation(result.x)
        if violation > 0:
            result.success = False
            result.message += f"; x violates the constraints by {violation:.3g}"
        elif result.run.record.meta.get(VALUES_KEY, True) and result.history[-1]["best"] is None:
            result.success = False
            result.message += "; f returned no finite value"
        return result

    def _rank(self, result: Result) -> tuple[float, float]:
        """Return the sort key of a result: the violation, then the value; NaN last."""
        violation = self.judge.violation(result.x)
        if violation > 0:
            return violation, 0.0
        value = -result.fun if self.judge.maximize else result.fun
        return 0.0, float("inf") if np.isnan(value) else value

    def _random_start(self, x0: Vector, seed: int) -> Vector:
        """Draw a start: uniform between finite bounds, else around x0 at a distance of sigma0."""
        generator = rng.for_content(seed, b"start", b"")
        settings: Any = self.optimizer
        scale = np.asarray(getattr(settings, "sigma0", 1.0))
        x = x0 + scale * generator.standard_normal(x0.size)
        bounds = getattr(settings, "bounds", None)
        if bounds is None:
            return x
        box: Any = make_space("euclidean", bounds, x0.size)
        if not isinstance(box, Box):
            return x
        with np.errstate(over="ignore"):
            finite = np.isfinite(box.upper - box.lower)
        width = np.where(finite, box.upper - box.lower, 0.0)
        uniform = box.lower + generator.uniform(size=x0.size) * width
        return box.place(np.where(finite, uniform, x))


def _seed(seed: int, i: int) -> int:
    """Return the seed of another start."""
    return int(np.random.SeedSequence([rng.check_seed(seed), i]).generate_state(1)[0])


def with_best(
    rows: Sequence[Mapping[str, Any]],
    better: Callable[..., float],
    before: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Add the best value so far to each row; `before` are the preceding rows."""
    best = [row["best"] for row in before[-1:] if row["best"] is not None]
    complete = []
    for row in rows:
        if "value" in row:  # absent where a person answered, or if no value was finite
            best = [better([*best, row["value"]])]
        complete.append({**row, "best": best[0] if best else None})
    return complete


def check_objective(run: Run, wanted: Mapping[str, Any]) -> None:
    """Raise if a resumed run has another objective; functions of a script may be renamed."""
    stored = run.record.meta
    if stored.get("maximize", wanted["maximize"]) != wanted["maximize"]:
        raise ReplayError(
            f"run {run.name!r} was started with maximize={stored['maximize']}; "
            "resume it with the same setting, or use another name"
        )
    old, new = str(stored.get("objective", "")), str(wanted["objective"])
    nameless = ("__main__", "<lambda>", "<locals>")
    if old and old != new and not any(part in old + new for part in nameless):
        raise ReplayError(
            f"run {run.name!r} was started with the function {old}, not {new}; "
            "resume it with the same function, or use another name"
        )
