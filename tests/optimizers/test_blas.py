"""Linear algebra of the optimizers does not wait for threads of BLAS."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from zorank import Run
from zorank.optimizers import auto_search, rank_model


@pytest.mark.parametrize(
    ("d", "rounds", "module", "step"),
    [(10, 40, rank_model, "_fit"), (200, 2, auto_search.AutoSearch, "_step")],
)
def test_auto_uses_one_thread_where_more_would_wait(monkeypatch, d, rounds, module, step):
    used = set()
    computed = getattr(module, step)

    def watched(*arguments):
        infos = threadpool_info()
        used.update(info["num_threads"] for info in infos if info["user_api"] == "blas")
        return computed(*arguments)

    monkeypatch.setattr(module, step, watched)
    with threadpool_limits(2, user_api="blas"):
        run = Run("auto", np.ones(d), seed=0)
        for _ in range(rounds):
            run.tell(values=[float(x @ x) for x in run.ask()])
    assert used == {1}
