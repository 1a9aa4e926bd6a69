"""A process is killed at random moments; afterwards nothing shows that it was."""

import os
import random
import time
from contextlib import closing

import numpy as np

from tests.helpers import fork_server
from zorank import minimize
from zorank.stores import open_store

KILLS = 8
POINTS = 1200

# Each evaluation takes one byte of its input and is told, so that kills come after a number of
# evaluations however fast the machine is, and the run cannot end before the last of them.
PROGRAM = """
import os, sys
import numpy as np
import zorank

def f(x):
    os.read(0, 1)
    print("evaluated", flush=True)
    return float(x @ x)

store = zorank.stores.open_store(sys.argv[1])
print("started", flush=True)
zorank.minimize(f, np.arange(6.0), points=int(sys.argv[2]), seed=3, method="zo-ranksgd-memory",
                store=store, name="crash")
"""

RECORDED = """
import sys, time
import numpy as np
import zorank

store = zorank.stores.open_store(sys.argv[1])
print("started", flush=True)
run = zorank.Run("rank-process", np.arange(1500.0), seed=3, store=store, name="crash",
                 record_slates=True)
while len(run.history) < int(sys.argv[2]):
    slate = run.ask()
    time.sleep(0.002)
    run.tell(slate.answer_from(np.array([x @ x for x in slate])))
run.ask()
"""

RECORDED_ROUNDS = 30
RECORDED_KILLS = 6


def test_a_recorded_run_that_is_killed_has_the_log_of_one_that_was_not(tmp_path):
    whole, broken = str(tmp_path / "whole.db"), str(tmp_path / "broken.db")
    fork_server.run(["-c", RECORDED, whole, RECORDED_ROUNDS], check=True)
    moments = random.Random(5)
    for _ in range(RECORDED_KILLS):
        process = fork_server.start(["-c", RECORDED, broken, RECORDED_ROUNDS])
        process.stdout.readline()
        time.sleep(moments.uniform(0, 0.4))
        process.close()
    fork_server.run(["-c", RECORDED, broken, RECORDED_ROUNDS], check=True)
    logs = []
    for database in (whole, broken):
        store = open_store(database)
        logs.append([(line.index, line.answer, line.slate) for line in store.rounds("crash")])
        store.close()
    assert len(logs[0]) == RECORDED_ROUNDS + 1
    assert logs[0] == logs[1]
    assert {slate["design"]["kind"] for _, _, slate in logs[0]} == {"derived"}


def squares(x):
    return float(x @ x)


def answered_rounds(database):
    if not os.path.exists(database):
        return 0
    with closing(open_store(database)) as store:
        return sum(r.answer is not None for run in store.runs() for r in store.rounds(run.name))


def run_and_kill(command, evaluations, seconds):
    """Start a run and kill it a moment after so many evaluations, or in its start if None."""
    given, tokens = os.pipe()
    with open(given, "rb") as stdin, open(tokens, "wb") as sent:
        process = fork_server.start(command, stdin=stdin)
        sent.write(bytes(20 + (evaluations or 0)))
        sent.flush()
        if evaluations is not None:
            for _ in range(1 + evaluations):
                process.stdout.readline()
        time.sleep(seconds)
        assert process.poll() is None, "the run ended before it was killed"
        process.close()


def test_a_run_killed_eight_times_equals_one_that_was_not(tmp_path):
    settings = {"points": POINTS, "method": "zo-ranksgd-memory", "seed": 3}
    whole = minimize(squares, np.arange(6.0), **settings).run
    database = str(tmp_path / "runs.db")
    command = ["-c", PROGRAM, database, POINTS]
    moments = random.Random(7)
    acknowledged = 0
    for kill in range(KILLS):
        # Every third dies somewhere in its start, the others at work.
        evaluations = moments.randrange(40) if kill % 3 else None
        run_and_kill(command, evaluations, moments.uniform(0, 0.02))
        answered = answered_rounds(database)
        assert answered >= acknowledged  # nothing acknowledged is ever lost
        acknowledged = answered
    assert 0 < acknowledged < len(whole.history)
    fork_server.run(command, check=True)

    with closing(open_store(database)) as store:
        log = store.rounds("crash")
        assert [r.answer for r in log] == [r.answer for r in whole.rounds()]
        assert [r.index for r in log] == list(range(len(log)))
        resumed = minimize(squares, np.arange(6.0), store=store, name="crash", **settings)
    assert resumed.x.tobytes() == whole.best().tobytes()
