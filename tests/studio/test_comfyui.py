"""A workflow of ComfyUI in the studio, from the command line to the pictures."""

import signal

import pytest
from fastapi.testclient import TestClient

from tests.helpers import comfyui_workflows as workflows
from tests.helpers.comfyui_server import ComfyServer
from tests.helpers.studio_server import Server
from tests.helpers.waiting import wait_until
from zorank.renderers.comfyui import comfyui_kind
from zorank.renderers.comfyui.node import install
from zorank.studio import create_app

TOKEN = "a-token-of-the-owner"


@pytest.fixture
def server(tmp_path):
    """A ComfyUI with our node."""
    (tmp_path / "ComfyUI" / "custom_nodes").mkdir(parents=True)
    install(tmp_path / "ComfyUI")
    started = ComfyServer(tmp_path / "ComfyUI" / "custom_nodes")
    yield started
    if started.alive:
        started.stop()


@pytest.fixture
def workflow(tmp_path):
    path = tmp_path / "api.json"
    path.write_text(workflows.usual())
    return path


def opened(store, workflow, server, **options):
    kind = comfyui_kind(str(workflow), server.url, {"tune": "3.cfg:4..9", "noise": 8, **options})
    app = create_app(store, {kind.name: kind}, TOKEN, hosts=("testserver",))
    return TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"})


def new_run(client, **settings):
    return client.post("/api/runs", json={"renderer": "comfyui", "seed": 1, **settings})


def pictures(client, run_id):
    waiting = client.get(f"/api/runs/{run_id}/round").raise_for_status().json()
    return waiting, [client.get(exhibit["url"]) for exhibit in waiting["exhibits"]]


def answer(client, run_id):
    waiting, found = pictures(client, run_id)
    assert {picture.status_code for picture in found} == {200}
    assert len({picture.content for picture in found}) == 6
    url = f"/api/runs/{run_id}/rounds/{waiting['index']}/answer"
    return client.post(url, json={"order": [[0], [1], [2]]}).raise_for_status()


def test_a_server_that_goes_away_leaves_the_run_as_it_was(store, workflow, server):
    with opened(store, workflow, server) as client:
        run_id = new_run(client).raise_for_status().json()["id"]
        for _ in range(3):
            answer(client, run_id)
        before = client.get(f"/api/runs/{run_id}/history").json()
        server.stop()
        waiting, _ = pictures(client, run_id)
        fresh = client.get(f"/api/runs/{run_id}/best?size=512&again=1")
        assert fresh.status_code in (200, 503)  # from the cache, or one sentence
        failed = new_run(client).raise_for_status().json()["id"]
        _, found = pictures(client, failed)
        assert {picture.status_code for picture in found} == {503}
        assert f"ComfyUI does not answer at {server.url}" in found[0].json()["detail"]
        assert client.get(f"/api/runs/{run_id}/history").json() == before
        server.start()
        answer(client, failed)
        assert client.get(f"/api/runs/{run_id}/round").json()["index"] == waiting["index"]
        answer(client, run_id)


def test_a_run_keeps_its_workflow_when_the_file_changes(store, workflow, server):
    with opened(store, workflow, server) as client:
        run_id = new_run(client).raise_for_status().json()["id"]
        _, before = pictures(client, run_id)
    workflow.write_text(workflows.usual(seed=7))
    with opened(store, workflow, server) as client:
        _, after = pictures(client, run_id)
        assert [p.content for p in after] == [p.content for p in before]
        other = new_run(client).raise_for_status().json()["id"]
        _, others = pictures(client, other)
        assert others[0].content not in [p.content for p in before]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        *(({"workflow": w}, "set where the studio is started") for w in ("{}", "/etc/passwd")),
        ({"url": "http://10.0.0.1"}, "url"),
        ({"tune": "3.cfg"}, "the range of"),
        ({"noise": "many"}, "noise must be"),
        ({"tune": "", "noise": 0}, "nothing is tuned"),
    ],
)
def test_requests_choose_neither_the_server_nor_the_workflow(
    store, workflow, server, options, said
):
    with opened(store, workflow, server) as client:
        asked = len(server.received)
        refused = new_run(client, options=options)
        assert refused.status_code == 422
        assert said in str(refused.json())
        assert len(server.received) == asked


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--renderer", "comfyui"], "needs --workflow"),
        (["--workflow", "none.json"], "cannot be read"),
        (["--renderer", "dream", "--workflow", "api.json"], "combine them with"),
        (["--url", "http://127.0.0.1:1"], "combine them with"),
        (["--workflow", "api.json", "--url", "http://127.0.0.1:1"], "connection refused"),
        (["--workflow", "api.json", "--url", "here"], "URL of ComfyUI"),
        (["--workflow", "api.json", "--prompt", "a lake"], "takes no 'prompt'"),
    ],
)
def test_a_wrong_command_is_one_sentence(arguments, said, workflow, refused, monkeypatch):
    monkeypatch.chdir(workflow.parent)
    assert said in refused("studio", *arguments)


def test_the_command_ranks_and_its_end_interrupts_what_it_left(tmp_path, workflow, server):
    arguments = ["--workflow", workflow, "--url", server.url, "--option", "noise=8"]
    studio = Server(tmp_path / "runs.db", "--renderer", "comfyui", *map(str, arguments)).start()
    try:
        with studio.client() as client:
            run_id = new_run(client).raise_for_status().json()["id"]
            answer(client, run_id)
        wait_until(lambda: not server.running and not server.pending, "pictures made ahead")
        server.go.clear()
        with studio.client() as client:
            other = new_run(client, seed=2).raise_for_status().json()["id"]
            waiting = client.get(f"/api/runs/{other}/round").raise_for_status().json()
            with pytest.raises(Exception, match="timed out"):
                client.get(waiting["exhibits"][0]["url"], timeout=0.2)
        wait_until(lambda: server.running, "a workflow that runs")
        studio.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not server.running and not server.pending, "an empty queue")
        assert server.interrupts
    finally:
        studio.stop()


def test_the_node_is_copied_into_comfyui(tmp_path, printed, refused):
    (tmp_path / "custom_nodes").mkdir()
    said = printed("comfyui-node", tmp_path)
    assert f"Wrote {tmp_path / 'custom_nodes' / 'zorank_noise.py'}. Restart ComfyUI." in said
    assert "should contain custom_nodes" in refused("comfyui-node", str(tmp_path.parent))
