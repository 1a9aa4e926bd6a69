"""The optimizers, one file each.

To add one, write its file and add its class to `REGISTRY`. The contract tests, the pages of
settings and the command line read the registry.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from zorank.errors import InvalidInput, short, unknown_name
from zorank.optimizers.auto import Auto
from zorank.optimizers.cma_es import CMAES
from zorank.optimizers.gld_fast import GLDFast
from zorank.optimizers.pick_start import PickStart
from zorank.optimizers.rank_ars import RankARS
from zorank.optimizers.rank_items import RankItems
from zorank.optimizers.rank_looks import RankLooks
from zorank.optimizers.rank_process import RankProcess
from zorank.optimizers.scobo import SCOBO
from zorank.optimizers.zo_ranksgd import ZORankSGD
from zorank.optimizers.zo_ranksgd_memory import ZORankSGDMemory
from zorank.optimizers.zo_sgd import ZOSGD
from zorank.protocols import AnyOptimizer

REGISTRY: dict[str, type[AnyOptimizer]] = {
    cls.name: cls
    for cls in (
        Auto,
        ZORankSGD,
        ZORankSGDMemory,
        RankProcess,
        RankLooks,
        RankARS,
        RankItems,
        PickStart,
        ZOSGD,
        SCOBO,
        GLDFast,
        CMAES,
    )
}
"""All optimizers by name."""


def make(name: str, options: Mapping[str, Any] | None = None) -> AnyOptimizer:
    """Return the optimizer of this name with these settings; raise if a name is unknown."""
    if not isinstance(options, Mapping | None):
        raise InvalidInput(f"options must map names of settings to values, found {short(options)}")
    options = dict(options or {})
    if not isinstance(name, str) or name not in REGISTRY:
        raise unknown_name("optimizer", name, REGISTRY)
    cls: Any = REGISTRY[name]
    settings = [field.name for field in dataclasses.fields(cls)]
    for option in options:
        if option not in settings:
            raise unknown_name(f"setting of {name}", option, settings)
    return cls(**options)  # type: ignore[no-any-return]  # a class of REGISTRY


def configuration(optimizer: AnyOptimizer) -> dict[str, Any]:
    """Return the settings of an optimizer as plain JSON values."""
    settings: Any = optimizer
    if not dataclasses.is_dataclass(settings) or isinstance(settings, type):
        raise InvalidInput(
            "an optimizer must be a frozen dataclass whose fields are its settings, "
            f"found {short(optimizer)}"
        )
    return {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}


__all__ = [
    "CMAES",
    "REGISTRY",
    "SCOBO",
    "ZOSGD",
    "Auto",
    "GLDFast",
    "PickStart",
    "RankARS",
    "RankItems",
    "RankLooks",
    "RankProcess",
    "ZORankSGD",
    "ZORankSGDMemory",
    "configuration",
    "make",
]
