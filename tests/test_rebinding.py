"""zorank runs set: files of a run that were moved."""

import sys
from pathlib import Path

import pytest

from zorank._rebinding import LOG, rebind
from zorank.errors import InvalidInput
from zorank.renderers.interface import RendererKind
from zorank.stores import open_store
from zorank.studio.judging import Panel
from zorank.studio.methods import MethodSpec
from zorank.studio.new_run import RunMaker, RunSettings

SOURCE = """
from dataclasses import dataclass
from pathlib import Path
from zorank.errors import InvalidInput
from zorank.renderers.options import option
from zorank.types import Exhibit

@dataclass(frozen=True)
class FromFile:
    file: str = option("", "A file.", path=lambda name: str(Path(name).resolve()) if name else "")
    tint: float = option(1.0, "Another option.")

    @property
    def dim(self):
        return len(Path(self.file).read_text()) if self.file else 1

    def check(self):
        if not Path(self.file).is_file():
            raise InvalidInput(f"there is no file {self.file}")

    def render(self, candidates):
        return [Exhibit("text/plain", Path(self.file).read_bytes()) for _ in candidates]
"""


@pytest.fixture
def kinds(tmp_path, monkeypatch):
    (tmp_path / "from_file.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    sys.modules.pop("from_file", None)
    import from_file

    return {"from_file:FromFile": RendererKind.of("from_file:FromFile", from_file.FromFile)}


@pytest.fixture
def run(kinds, tmp_path):
    """A store with a run whose file is there, given by a relative path."""
    (tmp_path / "four.txt").write_text("four")
    store = open_store(str(tmp_path / "runs.db"))
    settings = RunSettings(
        "from_file:FromFile", options={"file": "four.txt"}, method=MethodSpec("rank-process")
    )
    name = RunMaker(store, kinds, Panel(), None).make(settings).run.name
    yield store, name
    store.close()


def options(store, name):
    return store.record(name).meta["renderer_options"]


def test_paths_are_kept_absolute_and_can_be_changed(run, kinds, tmp_path):
    store, name = run
    assert options(store, name)["file"] == str(tmp_path / "four.txt")
    (tmp_path / "moved").mkdir()
    Path("four.txt").rename("moved/four.txt")
    (done,) = rebind(store, name, kinds, {"file": "moved/four.txt"})
    assert (done.option, done.new) == ("file", str(tmp_path / "moved/four.txt"))
    assert options(store, name) == {"file": done.new, "tint": 1.0}
    (logged,) = store.record(name).meta[LOG]
    assert logged.items() >= {"option": "file", "old": done.old, "new": done.new}.items()
    assert rebind(store, name, kinds, {"file": "moved/four.txt"}) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"file": "gone.txt"}, "there is no file"),
        ({"file": "seven.txt"}, "candidates of 4 numbers, and with these files they have 7"),
        ({"tint": "2"}, r"'tint' is not an option .* names a file \(these are: file\); other opt"),
        ({"colour": "red"}, "is not an option"),
    ],
)
def test_what_does_not_fit_is_refused_and_the_run_stays(run, kinds, tmp_path, changes, words):
    store, name = run
    (tmp_path / "seven.txt").write_text("seven77")
    before = store.record(name).meta
    with pytest.raises(InvalidInput, match=words):
        rebind(store, name, kinds, changes)
    assert store.record(name).meta == before


def test_the_command_line_sets_it(run, printed, refused, tmp_path):
    store, name = run
    Path("four.txt").rename("there.txt")
    given = ("--store", str(tmp_path / "runs.db"), "--renderer", "from_file:FromFile")
    assert "file is" in printed("runs", "set", name, "file=there.txt", *given)
    assert options(store, name)["file"] == str(tmp_path / "there.txt")
    assert "nothing has changed" in printed("runs", "set", name, "file=there.txt", *given)
    assert "name=value" in refused("runs", "set", name, "file", *given)


def test_an_open_studio_uses_the_new_file(run, kinds, tmp_path):
    from fastapi.testclient import TestClient

    from zorank.studio import create_app

    store, name = run
    app = create_app(store, kinds, "t0ken", hosts=("testserver",))
    opened = TestClient(app, headers={"Authorization": "Bearer t0ken"})
    Path("four.txt").rename("there.txt")
    url = opened.get(f"/api/runs/{name}/round").json()["exhibits"][0]["url"]
    assert opened.get(url).status_code == 503
    rebind(store, name, kinds, {"file": "there.txt"})
    url = opened.get(f"/api/runs/{name}/round").json()["exhibits"][0]["url"]
    assert opened.get(url).content == b"four"
