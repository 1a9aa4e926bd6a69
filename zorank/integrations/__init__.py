"""zorank inside other programs: SciPy, pycma's loop and Optuna.

- `scipy_method`: for `scipy.optimize.minimize(f, x0, method=zorank.integrations.scipy_method)`.
- `pycma.EvolutionStrategy`: ask, tell and stop as in pycma.
- `optuna.RankSampler`: a sampler of Optuna.

The other libraries are imported when one of these is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import zorank.integrations.optuna as optuna
    import zorank.integrations.pycma as pycma
    from zorank.integrations._scipy import scipy_method

__all__ = ["optuna", "pycma", "scipy_method"]


def __getattr__(name: str) -> Any:
    """Import an integration when it is first used."""
    from importlib import import_module

    if name in ("optuna", "pycma"):
        return import_module(f"zorank.integrations.{name}")
    if name == "scipy_method":
        return import_module("zorank.integrations._scipy").scipy_method
    raise AttributeError(f"module 'zorank.integrations' has no attribute {name!r}")
