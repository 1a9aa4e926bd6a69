"""PostgreSQL servers that are frozen, cut off or busy: a request fails soon, with a sentence."""

import logging
import os
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from tests.helpers.studio_server import started
from zorank import Run, StoreError
from zorank.stores import _postgres, open_store

pytestmark = pytest.mark.server


@pytest.fixture
def url(postgres_url):
    """A database of this test's own."""
    engine = sa.create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("CREATE DATABASE waits")
    yield sa.make_url(postgres_url).set(database="waits")
    with engine.connect() as connection:
        connection.exec_driver_sql("DROP DATABASE waits WITH (FORCE)")
    engine.dispose()


@pytest.fixture
def store(url):
    opened = open_store(url.render_as_string())
    Run("zo-ranksgd", np.ones(2), store=opened, name="a").ask()
    yield opened
    opened.close()


@pytest.fixture
def admin(postgres_url):
    """A connection to the server for whoever looks after it."""
    engine = sa.create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@contextmanager
def frozen(admin, store):
    """Stop the server and the processes of its connections, and shorten all waits for it."""

    def hurry(dialect, record, arguments, parameters):
        parameters["connect_timeout"] = 2

    folder = admin.exec_driver_sql("SHOW data_directory").scalar()
    pids = [int(Path(folder, "postmaster.pid").read_text().split()[0])]
    query = "SELECT pid FROM pg_stat_activity WHERE datname = 'waits'"
    pids += admin.exec_driver_sql(query).scalars().all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_postgres, "PING_SECONDS", 0.5)
        patch.setattr(_postgres, "SILENCE_SECONDS", 0.5)
        sa.event.listen(store._engine, "do_connect", hurry, insert=True)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
            sa.event.remove(store._engine, "do_connect", hurry)


def check(error, *words):
    """The owner reads where the store is; nobody else does."""
    assert len(str(error).splitlines()) == 1
    assert all(word in str(error) for word in words)
    assert "127.0.0.1" in str(error)
    for secret in ("127.0.0.1", "zorank@", "waits", "postgresql", '"'):
        assert secret not in error.public


def test_a_frozen_server_is_given_up_and_used_again(store, admin):
    with frozen(admin, store):
        for call in (lambda: store.rounds("a"), lambda: store.append("a", 1, 1.0)):
            with pytest.raises(StoreError) as caught:
                call()
            check(caught.value, "the database server does not answer")
    assert len(store.rounds("a")) == 1


def test_a_server_that_freezes_during_a_transaction(store, admin):

    def write():
        with store._write() as connection:
            connection.exec_driver_sql("SELECT 1")
            with frozen(admin, store):
                connection.exec_driver_sql("UPDATE zorank_runs SET version = 'x'")

    with pytest.raises(StoreError) as caught:
        write()
    check(caught.value, "does not answer", "for 0.5 s")
    assert store.record("a").version != "x"


def test_a_connection_that_is_cut_is_replaced(store, admin):
    query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'waits'"
    assert admin.exec_driver_sql(query).scalars().all()
    assert len(store.rounds("a")) == 1


def test_the_studio_answers_503_without_saying_where(store, admin, caplog):
    with started(store) as client:
        run_id = client.post("/api/runs", json={"renderer": "plain"}).json()["id"]
        with frozen(admin, store), caplog.at_level(logging.WARNING, "zorank"):
            given = client.post(f"/api/runs/{run_id}/rounds/0/answer", json={"order": [[1]]})
            stranger = client.get(
                "/api/runs", params={"token": f"{run_id}.x"}, headers={"Authorization": ""}
            )
        for response in (given, stranger):
            assert response.status_code == 503
            assert "the database server does not answer" in response.json()["detail"]
            assert "127.0.0.1" not in response.text
            assert "waits" not in response.text
        assert "127.0.0.1" in caplog.text
        assert "Traceback" not in caplog.text
        again = client.post(f"/api/runs/{run_id}/rounds/0/answer", json={"order": [[1]]})
        assert again.status_code == 200, again.text


def limited(url, option):
    """Open the store with a setting of the URL's own."""
    return open_store(url.update_query_dict({"options": f"-c {option}"}).render_as_string())


def test_a_run_that_is_locked_for_too_long(url, store):
    waiting = limited(url, "lock_timeout=200")
    with store._write() as connection:
        connection.exec_driver_sql("SELECT * FROM zorank_runs FOR UPDATE")
        with pytest.raises(StoreError) as caught:
            waiting.change_meta("a", {})
    check(caught.value, "locked by another program")
    waiting.change_meta("a", {"title": "x"})
    waiting.close()


def test_a_statement_that_takes_too_long(url, store):
    slow = limited(url, "statement_timeout=200")

    def sleep():
        with slow._read() as connection:
            connection.exec_driver_sql("SELECT pg_sleep(600)")

    with pytest.raises(StoreError) as caught:
        sleep()
    check(caught.value, "too slow")
    slow.close()


def test_all_connections_have_limits(store):
    with store._read() as connection:
        for setting, limit in (("statement_timeout", "9s"), ("lock_timeout", "8s")):
            assert connection.exec_driver_sql(f"SHOW {setting}").scalar() == limit
        parameters = connection.connection.driver_connection.info.get_parameters()
    assert parameters["connect_timeout"] == "5"
    assert parameters["keepalives_idle"] == "5"
    assert parameters["tcp_user_timeout"] == "10000"


def test_a_url_may_set_its_own_limits():
    url = sa.make_url("postgresql+psycopg://h/d?connect_timeout=60&options=-c%20lock_timeout=1")
    given = _postgres.connect_arguments(url)
    assert "connect_timeout" not in given
    assert given["options"].endswith("-c lock_timeout=1")
    assert "options" not in _postgres.connect_arguments(url, patient=True)
    assert _postgres.connect_arguments(sa.make_url("postgresql+asyncpg://h/d")) == {}


def test_public_errors_of_an_unreachable_server():
    with pytest.raises(StoreError) as caught:
        open_store("postgresql+psycopg://me:secret@127.0.0.1:9/db")
    assert "127.0.0.1:9" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.public == (
        "the database server does not answer; check that it runs, or try again"
    )
