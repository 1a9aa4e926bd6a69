"""The order in which queued exhibits are taken."""

from concurrent.futures import Future

import numpy as np

from tests.helpers.studio_server import Plain
from zorank.renderers.interface import resolve
from zorank.studio.render_queue import FairQueue, RenderTask, Urgency

NEEDED, SOON, PREVIEWED, LIKELY = Urgency
RENDERER = resolve(Plain())


def make_task(name, number, urgency=NEEDED, size=0):
    """A task of the run that is the first letter of its name."""
    task = RenderTask((name[0], name, size), RENDERER, np.zeros(5))
    task.join(Future(), urgency, number)
    return task


def queue_of(*tasks):
    queue = FairQueue()
    for task in tasks:
        queue.add(task)
    return queue


def taken(queue, may_start=lambda run: True):
    """The names of all tasks, in the order in which they are taken."""
    return [task.key[1] for task in iter(lambda: queue.take(may_start), None)]


def test_runs_take_turns():
    names = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"]
    queue = queue_of(*(make_task(name, number) for number, name in enumerate(names)))
    assert taken(queue) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]
    assert len(queue) == 0


def test_a_run_that_comes_late_waits_for_one_task_of_each_other_run():
    queue = queue_of(*(make_task(f"a{number}", number) for number in range(100)))
    assert queue.take(lambda run: True).key[1] == "a0"
    queue.add(make_task("b1", 100))
    assert taken(queue)[:3] == ["a1", "b1", "a2"]


def test_the_most_urgent_comes_first_whose_turn_it_ever_is():
    queue = queue_of(
        make_task("a1", 0, LIKELY),
        make_task("a2", 1, SOON),
        make_task("b1", 2, PREVIEWED),
        make_task("b2", 3, SOON),
        make_task("c1", 4, NEEDED),
    )
    assert taken(queue) == ["c1", "a2", "b2", "b1", "a1"]


def test_a_run_that_may_not_start_is_passed_over_and_keeps_its_turn():
    queue = queue_of(make_task("a1", 0), make_task("b1", 1), make_task("b2", 2))
    assert taken(queue, lambda run: run != "a") == ["b1", "b2"]
    queue.add(make_task("b3", 3))
    assert taken(queue) == ["a1", "b3"]


def test_a_more_urgent_request_moves_a_task_forward_until_it_is_cancelled():
    first, second, third = (make_task(f"a{number}", number, SOON) for number in (1, 2, 3))
    hurry = Future()
    third.join(hurry, NEEDED, 4)
    assert third.urgency is NEEDED
    assert taken(queue_of(first, second, third)) == ["a3", "a1", "a2"]
    third.leave(hurry)
    assert third.urgency is SOON
    assert third.waiting


def test_only_tasks_of_the_same_run_and_size_share_a_call():
    first = make_task("a1", 0, SOON)
    queue = queue_of(
        make_task("b1", 1, SOON),
        make_task("a2", 2, SOON),
        make_task("a3", 3, SOON, size=128),
        make_task("a4", 4, SOON),
    )
    assert queue.take_with(first).key[1] == "a2"
    assert queue.take_with(first) is None
    queue.remove(queue.tasks("a")[0])
    assert queue.take_with(make_task("a5", 5, LIKELY)) is None
    assert queue.take_with(first).key[1] == "a4"
    assert queue.take_with(first) is None


def test_the_least_urgent_task_is_the_newest_guess():
    tasks = [make_task("a1", 0, LIKELY), make_task("a2", 1, LIKELY), make_task("b1", 2, PREVIEWED)]
    queue = queue_of(*tasks, make_task("b2", 3, NEEDED))
    assert queue.least_urgent().key[1] == "a2"
    assert queue.least_urgent("b").key[1] == "b1"
    assert queue.least_urgent("c") is None
