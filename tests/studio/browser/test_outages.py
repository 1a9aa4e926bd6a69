"""Servers, databases and disks that fail while somebody answers.

The page says what is wrong, keeps the chosen order, and sends the answer when the cause has ended,
without a click. The answer is stored once.
"""

import contextlib
import os
import sqlite3
import subprocess
import time

import psycopg
import pytest
from playwright.sync_api import expect

from tests.conftest import start_postgres
from tests.helpers.browser import QUIET, UP_TO_RANK, log, new_run, told
from tests.helpers.studio_server import Server

REFUSED = QUIET + r"|status of 503"
CUT_OFF = (
    REFUSED + r"|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_FAILED"
)
BY_ITSELF = "Your answer is kept, and is sent again by itself."


def at_a_ranking(server, person):
    """Return a run of a server, and its page, on which two pictures were chosen."""
    run_id = new_run(server, *UP_TO_RANK)
    tab = person(forgives=CUT_OFF).open(server, f"/runs/{run_id}")
    tab.expect_round(1, "rank")
    tab.click(2, 5)
    return run_id, tab


def expect_message(tab, *parts):
    """The banner says what is wrong and what happens next, and the order is still there."""
    for part in (*parts, BY_ITSELF):
        expect(tab.see("banner")).to_contain_text(part)
    tab.expect_badges(p3="1", p6="2")


def expect_stored_once(tab, run_id, *groups):
    """The page shows the next round, and the log has this answer once."""
    tab.expect_round(2, "rank")
    expect(tab.see("banner")).to_have_count(0)
    answers = [line["answer"]["order"] for line in log(tab.server, run_id)[1:]]
    assert answers == [told(tab.server, run_id, 1, *groups)]


@pytest.fixture
def ranking(serve, person):
    """A server that may be killed, a run, and its page, on which two pictures were chosen."""
    server = serve("--method", "rank-process")
    return server, *at_a_ranking(server, person)


def test_an_answer_to_a_dead_server(ranking):
    server, run_id, tab = ranking
    server.kill()
    tab.see("next").click()
    expect_message(tab, "No response from the studio")
    server.start()
    expect_stored_once(tab, run_id, [2], [5])


def test_a_restart_of_the_server_before_the_answer(ranking):
    server, run_id, tab = ranking
    server.kill()
    server.start()
    tab.see("next").click()
    expect_stored_once(tab, run_id, [2], [5])


def test_an_answer_that_was_stored_without_a_response(ranking):
    """The connection ends after the server has the answer, so the page sends it again."""
    _, run_id, tab = ranking
    stored = []

    def lose_the_first_response(route):
        said = route.fetch()
        stored.append(said.status)
        if len(stored) == 1:
            route.abort()
        else:
            route.fulfill(response=said)

    tab.page.route("**/answer", lose_the_first_response)
    tab.see("next").click()
    expect_stored_once(tab, run_id, [2], [5])
    assert stored in ([200], [200, 409])  # the stream of events may bring the next round first


def test_an_order_that_is_changed_meanwhile_is_not_sent_by_itself(ranking):
    server, run_id, tab = ranking
    server.kill()
    tab.see("next").click()
    expect_message(tab, "No response from the studio")
    tab.click(0)
    tab.expect_badges(p3="1", p6="2", p1="3")
    expect(tab.see("banner")).to_contain_text("No response from the studio")
    expect(tab.see("banner")).not_to_contain_text(BY_ITSELF)
    server.start()
    tab.page.get_by_role("button", name="Try again").click()
    expect_stored_once(tab, run_id, [2], [5], [0])


def test_a_locked_database(ranking):
    server, run_id, tab = ranking
    with contextlib.closing(sqlite3.connect(server.store, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        tab.see("next").click()
        expect_message(tab, "The database was locked by another program for 10 s")
        assert len(log(server, run_id)) == 1
    expect_stored_once(tab, run_id, [2], [5])


@pytest.fixture
def small_disk(tmp_path):
    """The folder of a file system of 4 MB, which can be filled."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted; run as root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder):
    """Fill a file system to the last byte; return the file to delete."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    return filler


def test_a_full_disk(small_disk, person):
    server = Server(small_disk / "runs.db", "--method", "rank-process").start()
    try:
        run_id, tab = at_a_ranking(server, person)
        filler = fill(small_disk)
        tab.see("next").click()
        expect_message(tab, "The disk is full", "free some space", "Acknowledged answers are safe")
        filler.unlink()
        expect_stored_once(tab, run_id, [2], [5])
    finally:
        server.stop()


@pytest.fixture
def postgres():
    with start_postgres() as started:
        yield started


@pytest.fixture
def on_postgres(postgres, person):
    server = Server(postgres.url, "--method", "rank-process").start()
    yield server, *at_a_ranking(server, person)
    server.stop()


def test_postgresql_that_stops_in_the_middle_of_an_answer(postgres, on_postgres):
    """The answer waits for the run's row, which another program has locked, when it stops."""
    _, run_id, tab = on_postgres
    url = postgres.url.replace("+psycopg", "")
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(contextlib.closing(psycopg.connect(url)))
        watcher = stack.enter_context(contextlib.closing(psycopg.connect(url, autocommit=True)))
        other.execute("SELECT id FROM zorank_runs FOR UPDATE")
        tab.see("next").click()
        while not watcher.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
            time.sleep(0.02)
        postgres.stop()
    expect_message(tab, "The database server does not answer")
    postgres.start()
    expect_stored_once(tab, run_id, [2], [5])


def test_a_page_that_is_opened_while_the_database_is_stopped(postgres, on_postgres):
    _, run_id, tab = on_postgres
    postgres.stop()
    tab.page.reload()
    expect(tab.page.locator("main")).to_contain_text("The page tries again by itself.")
    postgres.start()
    tab.expect_round(1, "rank")
    tab.expect_badges(p3="1", p6="2")
    tab.see("next").click()
    expect_stored_once(tab, run_id, [2], [5])
