"""A process is killed at random moments; afterwards nothing shows that it was."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np

from zorank import minimize
from zorank.stores import open_store

KILLS = 20
POINTS = 2400

PROGRAM = """
import sys, time
import numpy as np
import zorank

def f(x):
    time.sleep(0.002)
    return float(x @ x)

store = zorank.stores.open_store(sys.argv[1])
print("started", flush=True)
zorank.minimize(f, np.arange(6.0), points=int(sys.argv[2]), seed=3, method="zo-ranksgd-memory",
                store=store, name="crash")
"""


def test_a_run_killed_twenty_times_equals_one_that_was_not(tmp_path):
    database = str(tmp_path / "runs.db")
    command = [sys.executable, "-c", PROGRAM, database, str(POINTS)]
    moments = random.Random(7)
    kills, acknowledged = 0, 0
    while kills < KILLS:
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        if kills % 5:  # every fifth dies somewhere in its start, the others at work
            process.stdout.readline()
        time.sleep(moments.uniform(0, 0.25))
        if process.poll() is not None:
            raise AssertionError("the run ended before it was killed often enough")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += 1
        if os.path.exists(database):
            store = open_store(database)
            answered = sum(
                r.answer is not None for run in store.runs() for r in store.rounds(run.name)
            )
            store.close()
            assert answered >= acknowledged  # nothing acknowledged is ever lost
            acknowledged = answered
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    whole = minimize(
        lambda x: float(x @ x), np.arange(6.0), POINTS, "zo-ranksgd-memory", seed=3
    ).run
    store = open_store(database)
    log = store.rounds("crash")
    assert [r.answer for r in log] == [r.answer for r in whole.rounds()]
    assert [r.index for r in log] == list(range(len(log)))
    resumed = minimize(
        lambda x: float(x @ x),
        np.arange(6.0),
        POINTS,
        "zo-ranksgd-memory",
        seed=3,
        store=store,
        name="crash",
    )
    assert resumed.x.tobytes() == whole.best().tobytes()
    assert 20 < acknowledged < len(log)
