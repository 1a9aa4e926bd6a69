"""Linear algebra of the optimizers does not wait for threads of BLAS."""

import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from zorank import Run
from zorank.optimizers import auto_search, rank_model


def threads():
    """The numbers of threads of the BLAS libraries."""
    return {i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"}


@pytest.mark.parametrize(
    ("d", "rounds", "module", "step"),
    [(10, 40, rank_model, "_fit"), (200, 2, auto_search.AutoSearch, "_step")],
)
def test_auto_uses_one_thread_where_more_would_wait(monkeypatch, d, rounds, module, step):
    used = set()
    computed = getattr(module, step)

    def watched(*arguments):
        used.update(threads())
        return computed(*arguments)

    monkeypatch.setattr(module, step, watched)
    with threadpool_limits(2, user_api="blas"):
        run = Run("auto", np.ones(d), seed=0)
        for _ in range(rounds):
            run.tell(values=[float(x @ x) for x in run.ask()])
    assert used == {1}


SHARED = """
from threadpoolctl import threadpool_info, threadpool_limits
from zorank.optimizers.blas import one_thread

def threads():
    return {i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"}

with threadpool_limits(2, user_api="blas"):
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    inside = threads()
    second.__exit__(None, None, None)
    print(inside, threads())
"""


def test_threads_share_the_limit_and_the_last_one_lifts_it():
    """In a process of its own: threads of other tests may have the limit, too."""
    ran = subprocess.run(
        [sys.executable, "-c", SHARED], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "{1} {2}\n"
