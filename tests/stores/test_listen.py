"""Processes that share a database notice each other's changes."""

from queue import Empty, Queue

import pytest

from zorank.stores import open_store
from zorank.testing.stores import example_record

LONGEST = 60.0


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "postgresql":
        return request.getfixturevalue("postgres_url")
    return f"sqlite:///{tmp_path}/runs.db"


@pytest.fixture
def two_stores(url):
    """Two stores of one database, as two processes have them."""
    stores = open_store(url), open_store(url)
    record = example_record()
    stores[0].create(record)
    yield *stores, record.name
    stores[0].delete(record.name)
    for store in stores:
        store.close()


def test_a_change_of_another_process_is_reported(two_stores):
    mine, other, name = two_stores
    reported = Queue()
    stop = mine.listen(reported.put)
    shown = other.append(name, 0, 0.0)
    # The change may have come before the listening began, so it is repeated until it is heard.
    found = None
    for number in range(1000):
        other.change_meta(name, {"number": number})
        try:
            found = reported.get(timeout=LONGEST / 1000)
            break
        except Empty:
            continue
    stop()
    assert found in (name, None)
    assert mine.snapshot(name).ends_with(shown)


def test_a_postgresql_store_does_not_report_its_own_changes(postgres_url):
    mine, other = open_store(postgres_url), open_store(postgres_url)
    reported = Queue()
    stop = mine.listen(reported.put)
    assert reported.get(timeout=LONGEST) is None  # it listens now
    for store, name in ((mine, "mine"), (other, "theirs")):
        record = example_record()
        object.__setattr__(record, "name", name)
        store.create(record)
        store.append(name, 0, 0.0)
    # None stands for any run: the connection may have been interrupted, and made again.
    heard = {reported.get(timeout=LONGEST)}
    while heard == {None}:
        other.change_meta("theirs", {"title": "x"})
        heard.add(reported.get(timeout=LONGEST))
    stop()
    assert heard - {None} == {"theirs"}
    for name in ("mine", "theirs"):
        mine.delete(name)
    mine.close()
    other.close()


def test_a_listener_that_raises_is_called_again(tmp_path):
    mine, other = (open_store(f"sqlite:///{tmp_path}/runs.db") for _ in range(2))
    other.create(example_record())
    calls = Queue()

    def fail(name):
        calls.put(name)
        raise RuntimeError("a listener's error")

    stop = mine.listen(fail)
    for number in range(1000):
        other.change_meta(example_record().name, {"number": number})
        try:
            calls.get(timeout=LONGEST / 1000)
        except Empty:
            continue
        if calls.qsize() or number > 3:
            break
    other.change_meta(example_record().name, {"number": -1})
    assert calls.get(timeout=LONGEST) is None
    stop()
    mine.close()
    other.close()
