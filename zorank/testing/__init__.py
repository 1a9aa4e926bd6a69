"""Contract suites: tests that every optimizer, oracle, judge, renderer and store passes.

A suite is a class of pytest tests around one fixture. Subclass it in your own tests and let the
fixture return your implementation. A further implementation, or the same one with other settings,
is one more row of `params`:

    import pytest
    from zorank.testing import OptimizerContract
    from mine import MyOptimizer

    class TestMyOptimizer(OptimizerContract):
        @pytest.fixture(params=[MyOptimizer(), MyOptimizer(m=4)], ids=str)
        def optimizer(self, request):
            return request.param

| suite | fixture |
| --- | --- |
| `OptimizerContract` | `optimizer`: an `Optimizer` |
| `LookingOptimizerContract` | `optimizer`: a `LookingOptimizer`; it adds tests with looks |
| `OracleContract` | `oracle`: an `Oracle` |
| `JudgeContract` | `judge`: a `Scorer` or `Judge` of pictures |
| `RendererContract` | `renderer`: a `Renderer` |
| `StoreContract` | `store`: an empty `Store` |

The roles are declared in `zorank.protocols`. The suites need pytest and nothing else that the
implementation does not need itself. The name of each test states the requirement; a class variable
of a suite, such as `dim`, can be overridden in the subclass.
"""

from zorank.errors import required_by

with required_by("zorank.testing", "pytest"):
    import pytest

_SUITES = ("optimizers", "oracles", "renderers", "stores")
_PARTS = ("_store_edits", "_store_examples", "_store_log", "_store_runs")
# A failed assertion then shows both sides, as in a test file. It must precede the imports.
pytest.register_assert_rewrite(*(f"{__name__}.{suite}" for suite in (*_SUITES, *_PARTS)))

from zorank.testing.optimizers import LookingOptimizerContract, OptimizerContract  # noqa: E402
from zorank.testing.oracles import JudgeContract, OracleContract  # noqa: E402
from zorank.testing.renderers import RendererContract  # noqa: E402
from zorank.testing.stores import StoreContract  # noqa: E402

__all__ = [
    "JudgeContract",
    "LookingOptimizerContract",
    "OptimizerContract",
    "OracleContract",
    "RendererContract",
    "StoreContract",
]
