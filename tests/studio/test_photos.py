"""Photos that the owner chooses for runs: sent, kept, shown, and removed with their runs."""

from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from tests.helpers import photos as files
from tests.helpers.studio_server import client_of
from zorank.renderers import Style
from zorank.renderers.style.kept import KeptPhotos
from zorank.renderers.style.photos import LARGEST_FILE, harmless
from zorank.run import Run
from zorank.studio.security import LARGEST_BODY, UPLOADS


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """The private folder of photos, in a folder of this test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return KeptPhotos.of_user()


@pytest.fixture
def client(store):
    return client_of(store, {"style": Style})


@pytest.fixture
def photo():
    """A file that is larger than what others may send."""
    noise = np.random.default_rng(0).integers(0, 256, (700, 900, 3)).astype(np.uint8)
    content = files.file_of(files.Image.fromarray(noise))
    assert len(content) > LARGEST_BODY
    return content


def send(client, content, **more):
    return client.post("/api/photos", content=content, **more)


def new_run(client, **options):
    body = {"renderer": "style", "method": "rank-process", "options": {"styles": "mix", **options}}
    return client.post("/api/runs", json=body)


def test_a_photo_is_sent_kept_painted_and_removed_with_its_runs(client, photo, kept):
    sent = send(client, photo)
    assert sent.status_code == 201, sent.text
    option, url = sent.json()["option"], sent.json()["url"]
    shown = client.get(url)
    assert shown.headers["content-type"] == "image/jpeg"
    assert shown.content == harmless(photo) == kept.read(option)

    run = new_run(client, photo=option).raise_for_status().json()["id"]
    exhibit = client.get(f"/api/runs/{run}/round").json()["exhibits"][0]["url"]
    assert client.get(exhibit).headers["content-type"] == "image/jpeg"
    branch = client.post(f"/api/runs/{run}/branch").raise_for_status().json()["id"]
    client.delete(f"/api/runs/{run}").raise_for_status()
    assert client.get(url).status_code == 200  # the branch uses it
    client.delete(f"/api/runs/{branch}").raise_for_status()
    gone = client.get(url)
    assert gone.status_code == 404
    assert list(kept.folder.iterdir()) == []
    refused = new_run(client, photo=option)
    assert refused.status_code == 422
    assert "choose it again" in refused.json()["detail"]
    assert client.get("/api/runs").json() == []


def test_the_command_line_removes_the_photo_of_a_run_too(client, photo, kept, tmp_path, printed):
    option = send(client, photo).json()["option"]
    run = new_run(client, photo=option).json()["id"]
    printed("runs", "delete", run, "--yes", "--store", str(tmp_path / "runs.db"))
    assert list(kept.folder.iterdir()) == []


def test_several_workers_share_photos(store, client, photo):
    other = client_of(store, {"style": Style})
    option = send(client, photo).json()["option"]
    run = new_run(other, photo=option).raise_for_status().json()["id"]
    client.delete(f"/api/runs/{run}").raise_for_status()
    assert new_run(other, photo=option).status_code == 422


@pytest.mark.parametrize("path", ["/etc/passwd", "photo.png", "kept:../../../etc/passwd"])
def test_a_request_cannot_name_a_file_of_the_machine(client, path, tmp_path, monkeypatch):
    (tmp_path / "photo.png").write_bytes(files.file_of(files.picture(), "PNG"))
    monkeypatch.chdir(tmp_path)
    opened = []
    monkeypatch.setattr(Path, "read_bytes", lambda self: opened.append(self))
    refused = new_run(client, photo=path)
    assert refused.status_code == 422
    assert "its path cannot be given here" in refused.json()["detail"]
    assert (opened, client.get("/api/runs").json()) == ([], [])


def test_a_database_cannot_name_a_file_of_the_machine(store, client, tmp_path):
    path = tmp_path / "photo.png"
    path.write_bytes(files.file_of(files.picture(), "PNG"))
    options = {"photo": str(path), "styles": "mix"}
    meta = {"renderer": "style", "renderer_options": options, "title": "From elsewhere"}
    Run("rank-process", np.zeros(26), store=store, name="theirs", meta=meta)
    refused = client.get("/api/runs/theirs")
    assert refused.status_code == 422
    assert "its path cannot be given here" in refused.json()["detail"]


def test_only_the_owner_sends_and_sees_photos(client, photo):
    url = send(client, photo).json()["url"]
    run = new_run(client).json()["id"]
    link = client.post(f"/api/runs/{run}/invite").json()["url"]
    token = link.partition("token=")[2]
    rater = TestClient(client.app, headers={"Authorization": f"Bearer {token}"})
    small = files.file_of(files.picture())
    assert send(rater, small).status_code == rater.get(url).status_code == 403
    assert send(rater, photo).status_code == 413  # nobody else's is even read
    stranger = TestClient(client.app)
    assert send(stranger, small).status_code == stranger.get(url).status_code == 401


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (b"", 422, "empty file"),
        (b"<svg onload='alert(1)'/>", 422, "not a JPEG, PNG or WebP"),
        (files.bomb(60_000, 60_000), 422, "million pixels"),
        (files.file_of(files.picture())[:500], 422, "damaged or incomplete"),
        (bytes(LARGEST_FILE + 1), 413, "at most 20 MiB"),
    ],
    ids=["empty", "svg", "bomb", "truncated", "large"],
)
def test_a_hostile_photo_is_refused_and_nothing_is_kept(client, kept, content, status, words):
    refused = send(client, content)
    assert refused.status_code == status
    assert words in refused.json()["detail"]
    assert not kept.folder.exists()


def test_the_metadata_of_a_photo_reach_neither_the_disk_nor_a_page(client, kept):
    url = send(client, files.with_script_and_place()).json()["url"]
    (file,) = kept.folder.glob("*/*")
    for content in (file.read_bytes(), client.get(url).content):
        assert files.SCRIPT not in content
        assert b"Exif" not in content


def test_other_bodies_stay_limited(client):
    """Also those of runs, which may be larger because of their starts."""
    headers = {"Content-Type": "application/json"}
    for path, most in (("/api/runs", UPLOADS["/api/runs"]), ("/api/nothing", LARGEST_BODY)):
        body = b"{" + b" " * most + b"}"
        assert client.post(path, content=body, headers=headers).status_code == 413


def test_a_photo_is_sent_through_a_proxy_below_a_path(proxied, photo):
    with proxied("--renderer", "style").client() as client:
        sent = client.post("/api/photos", content=photo)
        assert sent.status_code == 201, sent.text
        url = sent.json()["url"]
        assert url.startswith("/rank/api/photos/")
        assert client.get(url.removeprefix("/rank")).status_code == 200
