"""The objective of `minimize`: its arguments, its parameters, its constraints and their order.

Wrappers of a function are frozen dataclasses, so that they can be sent to worker processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zorank.errors import InvalidInput, short
from zorank.executors import evaluate_any
from zorank.slates import Points, Slate
from zorank.spaces import SearchSpace
from zorank.types import Answer, Vector

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray


NONE: Vector = np.empty(0)
"""The violations where there are no constraints."""


@dataclass(frozen=True, eq=False)
class Wrapped:
    """A function of a candidate: of its parameters if there is a space, with more arguments.

    If it is vectorized, it is a function of the rows of an array, or of a list of parameters.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    space: SearchSpace | None = None
    vectorized: bool = False

    def __call__(self, x: Vector) -> Any:
        return self.function(self._argument(x), *self.args)

    def _argument(self, x: Vector) -> Any:
        if self.space is None:
            return x
        return [self.space.decode(row) for row in x] if self.vectorized else self.space.decode(x)


@dataclass(frozen=True, eq=False)
class Product:
    """The product of a matrix and a candidate."""

    matrix: NDArray[Any]

    def __call__(self, x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            raise InvalidInput(
                "a constraint with a matrix needs a vector, and candidates of a space are dicts; "
                "give a function instead"
            )
        if self.matrix.shape[1:] != x.shape:
            raise InvalidInput(
                f"the matrix of a constraint must have {x.size} columns, one for each "
                f"coordinate, found shape {self.matrix.shape}"
            )
        return self.matrix @ x


def wrapped(f: Any, args: Any, space: SearchSpace | None, vectorized: bool = False) -> Any:
    """Return f itself if it needs no wrapper."""
    more = _arguments(args, "f")
    return f if not more and space is None else Wrapped(f, more, space, vectorized)


def _arguments(args: Any, of: str) -> tuple[Any, ...]:
    if isinstance(args, str) or not isinstance(args, Sequence):
        raise InvalidInput(
            f"args must be a tuple of further arguments of {of}, found {short(args)}; "
            "a single one is written (value,)"
        )
    return tuple(args)


@dataclass(frozen=True, eq=False)
class Constraint:
    """Numbers that must lie between a lower and an upper bound."""

    function: Callable[..., Any]
    lower: Any = 0.0
    upper: Any = np.inf

    def violation(self, x: Any) -> float:
        """Return by how much the bounds are violated, summed; NaN counts as infinite."""
        found = self.function(x)
        if isinstance(found, bool | np.bool_):
            return float(not found)
        try:
            numbers = np.asarray(found, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                "a constraint must return True, False or numbers that are at least 0 where it "
                f"holds; found {short(found)}"
            ) from error
        try:
            np.broadcast_shapes(numbers.shape, np.shape(self.lower), np.shape(self.upper))
        except ValueError as error:
            raise InvalidInput(
                f"a constraint returns numbers of shape {numbers.shape}, but its bounds have "
                f"shapes {np.shape(self.lower)} and {np.shape(self.upper)}"
            ) from error
        low = np.where(numbers < self.lower, self.lower, numbers)
        high = np.where(numbers > self.upper, self.upper, numbers)
        with np.errstate(invalid="ignore"):  # inf - inf, within the bounds
            below = np.where(low == numbers, 0.0, low - numbers)
            beyond = below + np.where(high == numbers, 0.0, numbers - high)
        return float(np.where(np.isnan(beyond), np.inf, beyond).sum())


def read_constraints(given: Any, args: tuple[Any, ...]) -> tuple[Constraint, ...]:
    """Read functions, SciPy's dicts, and objects with fun, or A, and lb and ub."""
    if given is None:
        return ()
    single = callable(given) or isinstance(given, Mapping) or hasattr(given, "lb")
    if not single and not isinstance(given, Iterable):
        raise InvalidInput(f"constraints must be a list of functions, found {short(given)}")
    return tuple(_read_constraint(one, args) for one in ([given] if single else given))


def _read_constraint(given: Any, args: tuple[Any, ...]) -> Constraint:
    if isinstance(given, Mapping):
        function, kind = given.get("fun"), given.get("type")
        if not callable(function) or kind not in ("eq", "ineq"):
            raise InvalidInput(
                "a constraint that is a dict must have a function 'fun' and the type 'eq' or "
                f"'ineq', found {short(dict(given))}"
            )
        more = _arguments(given.get("args", ()), "a constraint")
        return Constraint(Wrapped(function, more), 0.0, 0.0 if kind == "eq" else np.inf)
    if hasattr(given, "lb") and hasattr(given, "ub"):
        if hasattr(given, "A"):
            return Constraint(Product(_matrix(given.A)), _bound(given.lb), _bound(given.ub))
        if not callable(getattr(given, "fun", None)):
            raise InvalidInput(
                f"a constraint must be a function, found {short(given)}; bounds of the "
                "coordinates are given with bounds="
            )
        return Constraint(given.fun, _bound(given.lb), _bound(given.ub))
    if not callable(given):
        raise InvalidInput(f"a constraint must be a function, found {short(given)}")
    return Constraint(Wrapped(given, args) if args else given)


def _matrix(given: Any) -> NDArray[Any]:
    dense = given.toarray() if hasattr(given, "toarray") else given  # SciPy's sparse matrices
    return np.atleast_2d(_numbers(dense, "the matrix"))


def _bound(given: Any) -> NDArray[Any]:
    return _numbers(given, "a bound")


def _numbers(given: Any, what: str) -> NDArray[Any]:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{what} of a constraint must be numbers, found {short(given)}"
        ) from error


@dataclass(frozen=True, eq=False)
class Judge:
    """Evaluates slates and ranks them.

    Attributes:
        f: the objective of a candidate.
        maximize: whether larger is better.
        vectorized: f takes all candidates at once.
        executor: evaluates candidates.
        deadline: seconds for a slate.
        constraints: of the parameters, or of the candidate if there is no space.
        space: of the constraints' parameters.
    """

    f: Any
    maximize: bool = False
    vectorized: bool = False
    executor: Executor | None = None
    deadline: float | None = None
    constraints: tuple[Constraint, ...] = ()
    space: SearchSpace | None = None

    def value(self, x: Vector) -> float:
        """Return f(x)."""
        values, _ = evaluate_any(self.f, Slate(Points(x[None])), vectorized=self.vectorized)
        return float(values[0])

    def violation(self, x: Vector) -> float:
        """Return the sum of all violations of the constraints."""
        if not self.constraints:
            return 0.0
        point = x.copy() if self.space is None else self.space.decode(x)
        return float(sum(constraint.violation(point) for constraint in self.constraints))

    def answer(self, slate: Slate) -> tuple[Answer, dict[str, float]]:
        """Return the answer to a slate, and the best finite value of a feasible candidate."""
        violations = self._violations(slate)
        values, known = self._evaluate(slate, violations)
        finite = np.isfinite(values)
        ranked = -values if self.maximize else values
        if not finite.all():
            ranked = ranked_last(ranked, known, violations, slate.question)
        good = values[finite]
        best = good.max if self.maximize else good.min
        return slate.answer_from(ranked), {"value": float(best())} if good.size else {}

    def _violations(self, slate: Slate) -> Vector:
        """Return the violation of every candidate; NONE if there are no constraints."""
        return np.array([self.violation(x) for x in slate]) if self.constraints else NONE

    def _evaluate(self, slate: Slate, violations: Vector) -> tuple[Vector, NDArray[np.bool_]]:
        """Evaluate the feasible candidates; the values of the others are NaN."""
        if not (violations.size and violations.any()):
            return evaluate_any(
                self.f,
                slate,
                vectorized=self.vectorized,
                executor=self.executor,
                deadline=self.deadline,
            )
        values, known = np.full(len(slate), np.nan), np.ones(len(slate), dtype=bool)
        feasible = np.flatnonzero(violations == 0)
        if feasible.size:
            shown = Slate(Points(np.array([slate[i] for i in feasible.tolist()])))
            values[feasible], known[feasible] = self._evaluate(shown, NONE)
        return values, known


def ranked_last(
    values: Vector, known: NDArray[np.bool_], violations: Vector, question: str
) -> Vector:
    """Return finite numbers in the order of the values; unknown values are NaN.

    Infinite values come after finite ones, then NaN, then infeasible candidates by their
    violation. Finite values of feasible candidates alone are returned as they are.
    """
    infeasible = violations > 0 if violations.size else np.zeros(len(values), dtype=bool)
    if np.isfinite(values[known]).all() and not infeasible.any():
        return values
    kind = np.where(infeasible, 2.0, np.where(np.isnan(values), 1.0, 0.0))
    within = np.where(infeasible, violations if violations.size else 0.0, values)
    within = np.where(kind == 1.0, 0.0, within)
    _, places = np.unique(np.stack([kind, within], axis=1), axis=0, return_inverse=True)
    order = places.reshape(-1).astype(np.float64)
    if question == "values":
        order = _large_numbers(values, order, kind > 0)
    return np.where(known, order, np.nan)


def _large_numbers(values: Vector, order: Vector, last: NDArray[np.bool_]) -> Vector:
    """Return the finite values, and larger ones in this order for the others."""
    finite = np.isfinite(values) & ~last
    top = float(values[finite].max()) if finite.any() else 0.0
    span = max(abs(top), float(np.ptp(values[finite])) if finite.any() else 0.0, 1.0)
    return np.where(finite, values, top + span * (1 + order))
