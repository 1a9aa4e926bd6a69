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

RECORDED_ROUNDS = 40
RECORDED_KILLS = 10


def test_a_recorded_run_that_is_killed_has_the_log_of_one_that_was_not(tmp_path):
    command = [sys.executable, "-c", RECORDED]
    whole, broken = str(tmp_path / "whole.db"), str(tmp_path / "broken.db")
    subprocess.run([*command, whole, str(RECORDED_ROUNDS)], check=True, stdout=subprocess.DEVNULL)
    moments = random.Random(5)
    for _ in range(RECORDED_KILLS):
        process = subprocess.Popen(
            [*command, broken, str(RECORDED_ROUNDS)], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(moments.uniform(0, 0.4))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    subprocess.run([*command, broken, str(RECORDED_ROUNDS)], check=True, stdout=subprocess.DEVNULL)
    logs = []
    for database in (whole, broken):
        store = open_store(database)
        logs.append([(line.index, line.answer, line.slate) for line in store.rounds("crash")])
        store.close()
    assert len(logs[0]) == RECORDED_ROUNDS + 1
    assert logs[0] == logs[1]
    assert {slate["design"]["kind"] for _, _, slate in logs[0]} == {"derived"}


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
