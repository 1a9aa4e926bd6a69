"""The methods that a new run may use, and their settings.

To offer another optimizer, add a `Method` to `METHODS`: the form for a new run, the command line
and the HTTP interface then have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zorank.errors import InvalidInput, unknown_name
from zorank.looks import LookPlan
from zorank.optimizers import PickStart, RankItems, RankLooks, RankProcess, ZORankSGDMemory
from zorank.protocols import AnyOptimizer
from zorank.renderers.interface import ResolvedRenderer


@dataclass(frozen=True)
class Setting:
    """A number that the form asks for."""

    label: str
    default: float
    help: str


@dataclass(frozen=True)
class Method:
    """An optimizer that people can choose.

    Attributes:
        name: the optimizer's name.
        title, help: what the form shows.
        make: returns the optimizer, given m, the space, whether people pick the start from the
            first slate, and the settings.
        settings: by name.
    """

    name: str
    title: str
    help: str
    make: Callable[..., AnyOptimizer]
    settings: Mapping[str, Setting] = field(default_factory=dict)


@dataclass(frozen=True)
class MethodSpec:
    """The name of a method and the settings that differ from its defaults."""

    name: str
    settings: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in METHODS:
            raise unknown_name("method", self.name, METHODS)
        known = METHODS[self.name].settings
        for name, value in self.settings.items():
            if name not in known:
                has = ", ".join(known) or "none"
                raise InvalidInput(
                    f"{self.name} has no setting {name!r:.60} in the studio (its settings: {has})"
                )
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InvalidInput(f"{name} must be a number, found {value!r:.60}")


def _by_looks(m: int, space: Any, pick: bool, pool: int) -> AnyOptimizer:
    return RankLooks(m=m, space=space, pick=pick, pool=pool)


def _by_numbers(m: int, space: Any, pick: bool) -> AnyOptimizer:
    return RankProcess(m=m, space=space, pick=pick)


def _algorithm_3(m: int, space: Any, pick: bool, **settings: float) -> AnyOptimizer:
    options: dict[str, Any] = {"m": m, "space": space, **settings}
    if not pick:
        return ZORankSGDMemory(**options)
    return PickStart(m=m, method=ZORankSGDMemory.name, options=options)


BY_LOOKS = Method(
    RankLooks.name,
    "Learn from looks",
    "A preference model of what the pictures look like; needs a renderer that is quick.",
    _by_looks,
)
BY_NUMBERS = Method(
    RankProcess.name,
    "Learn from numbers",
    "A preference model of the numbers behind the pictures.",
    _by_numbers,
)
ALGORITHM_3 = Method(
    ZORankSGDMemory.name,
    "Descent (Algorithm 3)",
    "The method of the paper: it asks by turns for a ranking and for the best of a line search.",
    _algorithm_3,
    {
        "mu": Setting("μ, radius", ZORankSGDMemory.mu, "how far pictures are from the best"),
        "step": Setting("η, step", ZORankSGDMemory.step, "the longest step of the line search"),
        "gamma": Setting("γ, shrinkage", ZORankSGDMemory.gamma, "the factor between its steps"),
    },
)
METHODS: dict[str, Method] = {each.name: each for each in (BY_LOOKS, BY_NUMBERS, ALGORITHM_3)}
"""The methods by name."""


def make_optimizer(
    spec: MethodSpec | None,
    m: int,
    renderer: ResolvedRenderer,
    plan: LookPlan | None,
    pick: bool = True,
) -> AnyOptimizer:
    """Make the optimizer of a run.

    Args:
        spec: the method; None chooses by whether there is a plan.
        m: candidates per round.
        renderer: whose space is searched.
        plan: how many looks the run can afford; None for a run without looks.
        pick: whether people pick the start from the first slate; else the run has one.
    """
    if renderer.item_names is not None:
        if spec is not None:
            raise InvalidInput(
                f"a finite set is ranked with {RankItems.name}, found the method {spec.name}; "
                "leave the method out"
            )
        return RankItems(items=len(renderer.item_names()), m=m)
    if spec is None:
        spec = MethodSpec((BY_NUMBERS if plan is None else BY_LOOKS).name)
    if spec.name != BY_LOOKS.name:
        return METHODS[spec.name].make(m, renderer.space, pick, **spec.settings)
    if plan is None:
        raise InvalidInput(
            f"{spec.name} needs a renderer that computes looks quickly, and {renderer.title} does "
            f"not; choose {BY_NUMBERS.name}, or leave the method out"
        )
    return BY_LOOKS.make(m, renderer.space, pick, plan.pool)
