"""What the candidates of a run look like, for optimizers that learn from it.

A renderer may say it itself (`look`, see `zorank.renderers.interface`); else small exhibits are
rendered and described (`zorank.descriptors`). Either way the numbers become principal components
over a reference sample, random candidates that the run's seed draws. The components are half
whitened, divided by the square root of their standard deviation: whole whitening would stress
what hardly varies, none would see only the largest areas.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank import descriptors, rng
from zorank.errors import LookError
from zorank.optimizers.blas import one_thread
from zorank.optimizers.settings import check_count
from zorank.protocols import Renderer
from zorank.renderers.interface import ResolvedRenderer, resolve
from zorank.slates import Shell
from zorank.types import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float64]
    Look = Callable[[Rows], Any]

COMPONENTS = 40
"""Principal components that are kept; fewer than a third of the reference sample."""

SECONDS_TO_TRY = 15.0
"""First looks that take longer are not waited for: the run works without looks."""

LONG = 1.0
"""A look that takes longer may wait for something else than this processor."""

FAILED = -1.0
"""The seconds of a look that fails: it is planned for, and told where looks are used."""

WAITING = 5.0
"""A look whose time is more than so many times the processor's in its thread waits for something:
another thread, a graphics card, a server."""

TRIES, MOST_TRIES = 4, 12
"""Looks that tell how long one takes, and as many more as it takes to tell waiting from a machine
that others use."""

LONGEST_LOOK = 20.0
"""A look that takes longer, in seconds, is given up, and looks with it."""

FARTHEST = 1e6
"""A look this far from those of random candidates, whose mean square is 1, is refused."""

SAME = 1e-3
"""Looks of one candidate that differ by more, in units of random ones, have changed."""

REMEMBERED = 4096
CHUNK = 8
"""Looks that are remembered, and that are asked for at once."""


@dataclass(frozen=True)
class Plan:
    """How many looks a run affords; kept with it, so that it asks the same when it goes on.

    Attributes:
        pool: candidates that are looked at in a round.
        reference: size of the reference sample.
        begin: the first round whose candidates are looked at: later where the reference sample
            takes some rounds.
    """

    pool: int
    reference: int
    begin: int

    def __post_init__(self) -> None:
        for name, least in {"pool": 0, "reference": 3, "begin": 0}.items():
            check_count(self, name, least, REMEMBERED)


PLANS = {0.05: Plan(pool=36, reference=192, begin=0), 0.25: Plan(pool=24, reference=96, begin=3)}
"""The plan for looks of at most so many seconds each: about two seconds a round, while people look
at six pictures. There are few, so that the same run is made whatever else the machine does."""


class RunLooks:
    """The looks of one run's candidates: principal components over its reference sample.

    Args:
        look: (n, d) candidates → (n, p) numbers, near means alike.
        dim: d.
        space: "gaussian" or "euclidean", where candidates live.
        seed: the run's, which draws the reference sample.
        plan: how many looks there are, and when they begin.
    """

    def __init__(
        self, look: Look, dim: int, space: str, seed: int, plan: Plan = PLANS[0.05]
    ) -> None:
        self.begin = plan.begin
        self._look, self._dim, self._space = look, dim, space
        self._seed = rng.check_seed(seed)
        self._size = plan.reference
        self._lock = threading.RLock()
        self._basis: _Basis | None = None
        self._width = 0
        self._rows: list[Rows] = []
        self._reference: Rows | None = None
        self._memory: OrderedDict[bytes, Rows] = OrderedDict()
        self._expected: tuple[Rows, Rows] | None = None
        self._stuck = ""

    def expect(self, candidates: Rows, looks: Rows) -> None:
        """Refuse to go on if these candidates no longer look like this."""
        with self._lock:
            self._expected = (candidates, looks)

    def __call__(self, candidates: Rows) -> Rows:
        """The looks of (n, d) candidates: (n, p); among random candidates E|z|² is 1."""
        basis = self._built()
        keys = [x.tobytes() for x in candidates]
        with self._lock:
            known = {key: self._memory[key] for key in keys if key in self._memory}
        missing = {key: x for key, x in zip(keys, candidates, strict=True) if key not in known}
        if missing:
            found = basis.project(self._raw(np.array(list(missing.values()))))
            _check_near(found)
            known.update(zip(missing, found, strict=True))
            with self._lock:
                self._memory.update((key, known[key]) for key in missing)
                while len(self._memory) > REMEMBERED:
                    self._memory.popitem(last=False)
        return np.array([known[key] for key in keys]).reshape(len(keys), basis.width)

    def reference(self) -> tuple[Rows, Rows]:
        """The reference sample, (r, d), and its looks, (r, p)."""
        basis = self._built()
        return self._draws(), basis.reference

    @property
    def ready(self) -> bool:
        """Whether the reference sample has been looked at."""
        return self._basis is not None

    def step(self) -> bool:
        """Look at some more of the reference sample; whether there is more to do."""
        with self._lock:
            done = sum(len(rows) for rows in self._rows)
            if self._basis is None and done < self._size:
                self._rows.append(self._raw(self._draws()[done : done + CHUNK]))
            elif self._basis is None:
                self._check_same_again()
                basis = _Basis.of(np.vstack(self._rows))
                self._check_expected(basis)
                self._basis = basis
                self._rows.clear()
            return self._basis is None

    def _built(self) -> _Basis:
        while self.step():
            pass
        if self._basis is None:
            raise LookError("the reference sample has no looks")
        return self._basis

    def _draws(self) -> Rows:
        if self._reference is None:
            self._reference = self._drawn()
        return self._reference

    def _drawn(self) -> Rows:
        drawn = rng.for_content(self._seed, b"reference looks").standard_normal(
            (self._size, self._dim)
        )
        return np.array([Shell().place(x) for x in drawn]) if self._space == "gaussian" else drawn

    def _check_same_again(self) -> None:
        first = self._rows[0][:2]
        again = self._raw(self._draws()[: len(first)])
        scale = float(np.abs(first).max()) + 1e-12
        if again.shape != first.shape or float(np.abs(again - first).max()) > SAME * scale:
            raise LookError("its look says something else of the same candidate every time")

    def _check_expected(self, basis: _Basis) -> None:
        if self._expected is None:
            return
        candidates, looks = self._expected
        found = basis.project(self._raw(candidates))
        same = found.shape == looks.shape
        if not same or math.sqrt(np.mean(np.sum((found - looks) ** 2, axis=1))) > SAME:
            raise LookError("its look says something else of candidates than when the run began")

    def _raw(self, candidates: Rows) -> Rows:
        """What the look says of each, one at a time: its bits may depend on who is beside it."""
        return np.vstack([self._row(candidate) for candidate in candidates])

    def _row(self, candidate: Vector) -> Rows:
        try:
            found = np.array(self._ask(candidate[None].copy()), dtype=np.float64)
        except LookError:
            raise
        except (Exception, SystemExit) as error:  # a renderer of a user's own may raise anything
            raise LookError(f"its look fails with {_said(error)}") from error
        if found.ndim != 2 or len(found) != 1 or found.shape[1] == 0:
            raise LookError(
                "its look must return a row of numbers for each candidate, "
                f"found an array of shape {found.shape} for one"
            )
        self._width = self._width or found.shape[1]
        if found.shape[1] != self._width:
            raise LookError(
                f"its look returned {self._width} numbers before, found {found.shape[1]}"
            )
        if not np.isfinite(found).all():
            raise LookError("its look must return finite numbers, found NaN or infinity")
        return found

    def _ask(self, candidate: Rows) -> Any:
        """What the look says; nobody waits for ever for one that hangs."""
        if self._stuck:
            raise LookError(self._stuck)
        answers: list[tuple[Any, BaseException | None]] = []

        def ask() -> None:
            try:
                answers.append((self._look(candidate), None))
            except BaseException as error:  # told in the thread that waits
                answers.append((None, error))

        thread = threading.Thread(target=ask, daemon=True, name="zorank-look")
        thread.start()
        for _ in range(round(LONGEST_LOOK / 0.1)):  # while this process is stopped none passes
            thread.join(0.1)
            if answers:
                found, error = answers[0]
                if error is not None:
                    raise error
                return found
        self._stuck = f"a look takes longer than {LONGEST_LOOK:g} s"
        raise LookError(self._stuck)


@dataclass(frozen=True, eq=False)
class _Basis:
    """Principal components, half whitened, scaled to E|z|² = 1."""

    mean: Rows
    axes: Rows
    reference: Rows

    @classmethod
    def of(cls, rows: Rows) -> _Basis:
        if np.abs(rows).max() > LARGEST:
            raise LookError(f"its look returns numbers beyond {LARGEST:g}")
        mean = rows.mean(axis=0)
        with one_thread():
            _, values, directions = np.linalg.svd(rows - mean, full_matrices=False)
        deviations = values / math.sqrt(len(rows))
        if deviations[0] <= 1e-9 * (np.abs(rows).max() + 1e-12):
            raise LookError("its look says that all candidates look alike")
        kept = min(COMPONENTS, max(1, len(rows) // 3))
        kept = min(kept, int((deviations > 1e-6 * deviations[0]).sum()))
        axes = directions[:kept].T / np.sqrt(deviations[:kept])
        axes /= math.sqrt(float(deviations[:kept].sum()))  # E|z|² = Σ sd²/sd
        return cls(mean, axes, _projected(rows, mean, axes))

    def project(self, rows: Rows) -> Rows:
        return _projected(rows, self.mean, self.axes)

    @property
    def width(self) -> int:
        return int(self.axes.shape[1])


LARGEST = 1e100
"""Numbers of a look beyond this cannot be squared and added."""


def _check_near(looks: Rows) -> None:
    """Raise a LookError for looks that distances cannot be computed from."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not (np.abs(looks).max(initial=0.0) < FARTHEST):
            raise LookError(
                "its look of a candidate is a million times larger than those of random candidates"
            )


def _said(error: BaseException) -> str:
    """An error in a few words, even one that cannot be printed."""
    try:
        words = " ".join(str(error).split())[:200].rstrip(".")
    except Exception:
        words = ""
    return f"{type(error).__name__}: {words}"


def _projected(rows: Rows, mean: Vector, axes: Rows) -> Rows:
    """(rows − mean) axes, one row at a time: the bits of a look do not depend on the others.

    A product of matrices rounds each row by how many there are.
    """
    found = [((row - mean)[:, None] * axes).sum(axis=0) for row in rows]
    return np.array(found).reshape(len(rows), axes.shape[1])


def for_renderer(renderer: Renderer, seed: int, plan: Plan = PLANS[0.05]) -> RunLooks | None:
    """The looks of a run of this renderer; None if nothing says what its candidates look like."""
    resolved = resolve(renderer)
    look = look_of(resolved)
    if look is None:
        return None
    return RunLooks(look, resolved.dim, resolved.space, seed, plan)


def look_of(renderer: ResolvedRenderer) -> Look | None:
    """A renderer's own look, or descriptors of its small exhibits if it renders quickly."""
    if renderer.look is not None:
        return renderer.look
    if renderer.tells_progress or descriptors.reader_of(renderer.media_type) is None:
        return None
    small = renderer.resized(descriptors.SIDE) if renderer.size is not None else renderer
    return lambda candidates: descriptors.of_exhibits(small.render(candidates))


def plan_for(renderer: ResolvedRenderer) -> Plan | None:
    """Try a look, and plan how many a run can afford; None if it has none, fails, or is slow."""
    look = look_of(renderer)
    if look is None:
        return None
    seconds = _seconds(look, renderer.dim)
    if seconds is None or (seconds == FAILED and renderer.look is None):
        return None  # what is wrong with rendering is told where a picture would be
    return next((plan for most, plan in PLANS.items() if seconds <= most), None)


def _seconds(look: Look, dim: int) -> float | None:
    """What the quickest of a few looks takes; FAILED, or None if it takes too long."""
    candidates = rng.for_content(0, b"try a look").standard_normal((MOST_TRIES, dim))
    found: list[float] = []

    def attempt() -> None:
        try:
            for tries, candidate in enumerate(candidates, 1):
                began, worked = perf_counter(), thread_time()
                look(candidate[None])
                waited, worked = perf_counter() - began, thread_time() - worked
                # Others may use the machine; but a look that always takes long waits itself.
                waits = waited > max(WAITING * worked, min(PLANS)) or waited > LONG
                found.append(waited if waits else worked)
                quickest = min(found)
                if tries >= TRIES and (quickest <= min(PLANS) or not waits):
                    return
                if tries >= (TRIES if waits else 2) and quickest > max(PLANS):
                    return  # the first may load things
        except (Exception, SystemExit):  # it is told where looks are used
            found.append(FAILED)

    thread = threading.Thread(target=attempt, daemon=True, name="zorank-look")
    thread.start()
    thread.join(SECONDS_TO_TRY)
    return min(found[:], default=None)
