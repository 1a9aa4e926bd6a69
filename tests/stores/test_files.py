"""What operators do to the file of a store that is in use, and who may read it."""

import os
import shutil
import sqlite3
import stat
from contextlib import closing

import pytest

from tests.helpers.studio_server import started
from zorank import Ranking, StoreError
from zorank.stores import open_store
from zorank.testing.stores import answered, at_once, example_record

GONE = "was deleted or replaced while it was in use"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def store(file):
    """A store with a run that has one answer and a round that waits."""
    opened = open_store(str(file))
    opened.create(example_record(), [answered(0, 1, key="first")])
    opened.append("a run", 1, 1.0, after="first")
    yield opened
    opened.close()


def with_files(file):
    """The database and the files beside it."""
    return [path for path in file.parent.iterdir() if path.name.startswith(file.name)]


def backup_of(file, copy):
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    return copy


def key_of(store):
    return store.last("a run").key


def answers(store):
    return [line.answer for line in store.rounds("a run")]


def check_refused(store, key, words=GONE):
    """No write is acknowledged, and the sentence for strangers has no path."""
    for write in (
        lambda: store.answer("a run", answered(1, 2, key=key)),
        lambda: store.change_meta("a run", {"title": "x"}),
        lambda: store.create(example_record()),
        lambda: store.rounds("a run"),
    ):
        with pytest.raises(StoreError, match=words) as caught:
            write()
        assert "runs.db" in str(caught.value)
        assert "runs.db" not in caught.value.public
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("which", ["the database", "all files"])
def test_a_deleted_file_is_noticed_and_not_created_again(store, file, which):
    key = key_of(store)
    for path in [file] if which == "the database" else with_files(file):
        path.unlink()
    check_refused(store, key, "it is missing")
    assert not file.exists()


def test_a_file_that_is_put_back_is_used_again(store, file, tmp_path):
    key = key_of(store)
    away = tmp_path / "away.db"
    file.rename(away)
    check_refused(store, key)
    away.rename(file)
    store.answer("a run", answered(1, 2, key=key))
    assert answers(open_store(str(file))) == [Ranking.of([1]), Ranking.of([2])]


@pytest.mark.parametrize("noticed", [True, False])
@pytest.mark.parametrize("how", ["delete and copy", "move over", "delete all and copy"])
def test_a_backup_in_place_of_the_file_is_used(store, file, tmp_path, how, noticed):
    copy = backup_of(file, tmp_path / "copy.db")
    key = key_of(store)
    store.answer("a run", answered(1, 2, key=key))  # the backup does not have this answer
    if how == "move over":
        shutil.copy(copy, tmp_path / "another.db")
        os.replace(tmp_path / "another.db", file)
    else:
        for path in with_files(file) if "all" in how else [file]:
            path.unlink()
        if noticed:
            check_refused(store, key)
        shutil.copy(copy, file)
    assert answers(store) == [Ranking.of([1]), None]
    store.answer("a run", answered(1, 3, key=key))
    store.close()
    again = open_store(str(file))
    assert answers(again) == [Ranking.of([1]), Ranking.of([3])]
    again.close()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("content", [b"", b"this is no database " * 1000, None])
def test_a_file_that_is_no_store_is_not_used(store, file, content):
    key = key_of(store)
    for path in with_files(file):
        path.unlink()
    if content is None:  # a database of something else
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE birds (name TEXT)")
    else:
        file.write_bytes(content)
    before = file.read_bytes()
    check_refused(store, key)
    assert file.read_bytes()[:4096] == before[:4096] or content is None


@pytest.mark.parametrize("size", [0, 100, 5000])
def test_a_truncated_file_is_noticed_and_may_be_restored(tmp_path, size):
    file = tmp_path / "runs.db"
    first = open_store(str(file))
    first.create(example_record(), [answered(i, 1, key=f"key {i}") for i in range(200)])
    first.close()  # writes everything into the file
    store = open_store(str(file))
    assert len(store.rounds("a run")) == 200
    copy = backup_of(file, tmp_path / "copy.db")
    os.truncate(file, size)
    for _ in range(2):
        with pytest.raises(StoreError, match=GONE):
            store.append("a run", 200, 1.0, after="key 199")
    with open(copy, "rb") as source, open(file, "r+b") as target:  # in place, as cp does
        target.truncate()
        shutil.copyfileobj(source, target)
    store.append("a run", 200, 1.0, after="key 199")
    assert len(store.rounds("a run")) == 201
    store.close()


def test_a_file_that_shrinks_because_it_is_tidied_up_is_fine(tmp_path):
    file = tmp_path / "runs.db"
    store = open_store(str(file))
    for name in ("a run", "another"):
        record = example_record()
        object.__setattr__(record, "name", name)
        store.create(record, [answered(i, 1, key=f"key {i}") for i in range(200)])
    store.delete("another")
    with closing(sqlite3.connect(file)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = file.stat().st_size
        store.change_meta("a run", {})
        other.execute("VACUUM")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert file.stat().st_size < size
    store.append("a run", 200, 1.0, after="key 199")
    assert len(store.rounds("a run")) == 201
    store.close()


def test_no_answer_is_lost_if_the_log_of_recent_writes_is_deleted(store, file):
    key = key_of(store)
    store.answer("a run", answered(1, 2, key=key))
    file.with_name("runs.db-wal").unlink()
    following = store.append("a run", 2, 1.0, after=key)
    store.answer("a run", answered(2, 3, key=following.key))
    store.close()
    assert answers(open_store(str(file))) == [Ranking.of([n]) for n in (1, 2, 3)]


def test_a_file_that_is_replaced_during_a_write(store, file, tmp_path):
    """The answer went to the old file, so it is not acknowledged."""
    copy = backup_of(file, tmp_path / "copy.db")
    key = key_of(store)

    def write():
        with store._write() as connection:
            connection.exec_driver_sql("UPDATE zorank_runs SET version = 'x'")
            os.replace(copy, file)

    with pytest.raises(StoreError, match="the last change may be lost"):
        write()
    store.answer("a run", answered(1, 2, key=key))
    assert answers(open_store(str(file))) == [Ranking.of([1]), Ranking.of([2])]


def test_a_link_that_leads_to_another_file(tmp_path):
    (tmp_path / "real").mkdir()
    link, real = tmp_path / "runs.db", tmp_path / "real" / "first.db"
    link.symlink_to(real)
    store = open_store(str(link))
    store.create(example_record(), [answered(0, 1, key="first")])
    copy = backup_of(real, tmp_path / "real" / "second.db")
    link.unlink()
    with pytest.raises(StoreError, match="it is missing"):
        store.append("a run", 1, 1.0, after="first")
    link.symlink_to(copy)
    store.append("a run", 1, 1.0, after="first")
    store.close()
    assert len(answers(open_store(str(copy)))) == 2
    assert len(answers(open_store(str(real)))) == 1


def test_threads_that_notice_at_once(store, file, tmp_path):
    copy = backup_of(file, tmp_path / "copy.db")
    os.replace(copy, file)
    found, refusals = [], []

    def read(_):
        while len(found) < 8:
            try:
                found.append(answers(store))
                return
            except StoreError as error:  # another thread still has the old file
                refusals.append(str(error))

    at_once(8, read)
    assert found == [[Ranking.of([1]), None]] * 8
    assert all("the old one is still being closed" in refusal for refusal in refusals)


def test_the_studio_answers_503_and_recovers(tmp_path):
    file, away = tmp_path / "runs.db", tmp_path / "away.db"
    store = open_store(str(file))
    with started(store) as client:
        run_id = client.post("/api/runs", json={"renderer": "plain"}).json()["id"]
        url = f"/api/runs/{run_id}/rounds/0/answer"
        file.rename(away)
        for response in (
            client.post(url, json={"order": [[1]]}),
            client.get("/api/runs"),
            client.get(f"/api/runs/{run_id}"),
        ):
            assert response.status_code == 503
            assert GONE in response.json()["detail"]
            assert str(tmp_path) not in response.text
        page = client.get(f"/runs/{run_id}")
        assert page.status_code == 503
        assert GONE in page.text
        away.rename(file)
        assert client.post(url, json={"order": [[1]]}).status_code == 200
    store.close()
    assert next(line.answer is not None for line in open_store(str(file)).rounds(run_id))


# Who may read a store.


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_store_is_for_its_user_only(tmp_path):
    old = os.umask(0o022)
    try:
        file = tmp_path / "folder" / "runs.db"
        store = open_store(str(file))
        store.create(example_record())
    finally:
        os.umask(old)
    files = with_files(file)
    assert sorted(path.name for path in files) == ["runs.db", "runs.db-shm", "runs.db-wal"]
    assert [oct(mode_of(path)) for path in files] == ["0o600"] * 3
    assert oct(mode_of(file.parent)) == "0o700"
    store.close()


def test_existing_files_and_folders_keep_their_modes(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    file = folder / "runs.db"
    open_store(str(file)).close()
    file.chmod(0o640)
    folder.chmod(0o750)
    store = open_store(str(file))
    store.create(example_record())
    assert oct(mode_of(file)) == "0o640"
    assert oct(mode_of(folder)) == "0o750"
    store.close()
