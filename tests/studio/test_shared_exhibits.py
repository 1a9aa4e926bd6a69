"""The folder of exhibits that processes share: its bound, damaged files, names."""

from dataclasses import dataclass

import numpy as np
import pytest

from tests.helpers.processes import python
from tests.helpers.studio_server import Plain
from tests.helpers.waiting import wait_until
from zorank.renderers.interface import resolve
from zorank.studio.render_pool import RenderPool
from zorank.studio.shared_exhibits import LOCKS, SharedExhibits, file_name
from zorank.types import Exhibit

POINTS = np.eye(5)


@pytest.fixture
def shared(tmp_path):
    return SharedExhibits(tmp_path, 10_000, 1)


def contents(folder):
    return [file for file in folder.iterdir() if file.name != LOCKS]


@pytest.mark.parametrize("data", [b"", b"a\nb", "a text \u00e9", b"\x00" * 5000])
def test_a_shared_exhibit_is_read_back_unchanged(shared, data):
    shared.add("one", Exhibit("text/plain", data))
    assert shared.get("one") == Exhibit("text/plain", data)
    assert shared.get("two") is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content[:10],
        lambda content: b"",
        lambda content: content.replace(b"data", b"DATA"),
        lambda content: b"[]\n" + content,
        lambda content: b"\xff" + content,
    ],
)
def test_a_damaged_file_counts_as_absent(shared, tmp_path, damage):
    shared.add("one", Exhibit("text/plain", b"the data"))
    file = tmp_path / "one"
    file.write_bytes(damage(file.read_bytes()))
    assert shared.get("one") is None


def test_the_least_recently_used_files_are_removed(shared, tmp_path):
    used = []
    for number in range(50):
        shared.add(f"{number}", Exhibit("text/plain", bytes(900)))
        assert shared.get("0") is not None  # it is used all the time
        assert sum(file.stat().st_size for file in contents(tmp_path)) <= 10_000
        used.append(f"{number}")
    kept = {file.name for file in contents(tmp_path)}
    assert {"0", "49", "48"} <= kept
    assert not kept & set(used[1:39])


def test_the_latest_file_is_kept_whatever_its_size(shared, tmp_path):
    shared.add("small", Exhibit("text/plain", b"small"))
    shared.add("large", Exhibit("text/plain", bytes(50_000)))
    assert [file.name for file in contents(tmp_path)] == ["large"]


def test_a_folder_that_is_gone_does_not_matter(shared, tmp_path):
    (tmp_path / LOCKS).unlink()
    tmp_path.rmdir()
    shared.add("one", Exhibit("text/plain", bytes(50_000)))
    assert shared.get("one") is None
    shared.forget("run")


def test_a_name_depends_on_run_candidate_size_and_settings():
    @dataclass(frozen=True)
    class Coloured:
        color: str = "red"
        dim: int = 5

        def render(self, candidates):
            return [Exhibit("text/plain", self.color.encode()) for _ in candidates]

    key, red = ("run", "candidate", 64), resolve(Coloured())
    names = [
        file_name(key, red),
        file_name(("other", "candidate", 64), red),
        file_name(("run", "other", 64), red),
        file_name(("run", "candidate", 128), red),
        file_name(key, resolve(Coloured("blue"))),
        file_name(key, resolve(Plain())),
    ]
    assert len(set(names)) == len(names)
    assert file_name(key, resolve(Coloured())) == names[0]


def test_forgetting_a_run_keeps_the_others(shared, tmp_path):
    renderer = resolve(Plain())
    names = [file_name((run, "x", 0), renderer) for run in ("one", "two")]
    for name in names:
        shared.add(name, Exhibit("text/plain", b"data"))
    shared.forget("one")
    assert [file.name for file in contents(tmp_path)] == names[1:]


def test_a_pool_takes_what_another_has_rendered(tmp_path):
    class Broken(Plain):
        def render(self, candidates):
            raise RuntimeError("out of paint")

    pools = [RenderPool(1, shared=SharedExhibits(tmp_path, 10_000, 2)) for _ in range(2)]
    future = pools[0].request("run", resolve(Plain(), "plain"), POINTS[0])
    one = future.result(120)
    wait_until(lambda: contents(tmp_path), "the exhibit is written")
    wait_until(lambda: not list(tmp_path.glob("new-*")), "it has its name")
    assert pools[1].request("run", resolve(Broken(), "plain"), POINTS[0]).result(120) == one
    assert (pools[0].stats().done, pools[0].stats().shared) == (1, 0)
    assert (pools[1].stats().done, pools[1].stats().shared) == (0, 1)
    pools[0].forget("run")
    assert contents(tmp_path) == []


LOCKED = """
import sys
from pathlib import Path
from zorank.studio.shared_exhibits import SharedExhibits
print([SharedExhibits(Path(sys.argv[1]), 10_000, 2)._lock(name) for name in ("one", "two")])
"""


@pytest.mark.process
def test_a_lock_excludes_other_processes(shared, tmp_path):
    program = LOCKED.replace("sys.argv[1]", repr(str(tmp_path)))
    assert shared._lock("one")
    assert python(program) == "[False, True]\n"
    shared._unlock("one")
    assert python(program) == "[True, True]\n"
