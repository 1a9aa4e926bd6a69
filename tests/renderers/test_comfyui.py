"""The renderer comfyui, against a server that speaks ComfyUI's protocol over loopback."""

import json
import threading
from io import BytesIO
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from tests.helpers import comfyui_workflows as workflows
from tests.helpers.comfyui_server import ComfyServer
from tests.helpers.waiting import wait_until
from zorank.errors import InvalidInput, RenderError
from zorank.renderers import ComfyUI
from zorank.renderers.comfyui.node import install
from zorank.renderers.comfyui.zorank_noise import decode_weights
from zorank.testing import RendererContract

FIRST_SEED = [1.0, 0, 0, 0]


@pytest.fixture(scope="module")
def custom_nodes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comfyui") / "custom_nodes"
    folder.mkdir()
    install(folder)
    return folder


@pytest.fixture
def start(custom_nodes):
    """Starts servers, which stop after the test."""
    started = []

    def begin(**settings):
        started.append(ComfyServer(**{"custom_nodes": custom_nodes, **settings}))
        return started[-1]

    yield begin
    for server in started:
        if server.alive:
            server.stop()


@pytest.fixture
def server(start):
    return start()


def tuned(server, tune="3.cfg:4..9", text=None, **options):
    return ComfyUI(text or workflows.usual(), tune=tune, url=server.url, **options)


def data(renderer, candidates):
    return [exhibit.data for exhibit in renderer.render(candidates)]


def in_background(call):
    """Call it in a thread; returns the thread and where its error is put."""
    raised = []

    def attempt():
        try:
            call()
        except RenderError as error:
            raised.append(str(error))

    thread = threading.Thread(target=attempt)
    thread.start()
    return thread, raised


class TestContract(RendererContract):
    @pytest.fixture(params=["noise and widgets", "widgets, without a socket, from an old server"])
    def renderer(self, request, start):
        if request.param.startswith("noise"):
            return tuned(start(), "3.cfg:4..9, 10.strength_model:0..1", noise=4)
        return tuned(start(sockets=False, own_ids=True))


def test_a_widget_takes_the_value_of_its_range_and_json_keeps_the_rest(server):
    renderer = tuned(server, "Sampler.cfg:4..9, 10.strength_model")
    assert renderer.tune == "3.cfg:4.0..9.0, 10.strength_model:-100.0..100.0"
    renderer.render([[NormalDist().inv_cdf(0.2), 0.0]])
    sent = server.received[-1]
    assert sent["3"]["inputs"]["cfg"] == pytest.approx(5.0)
    assert sent["10"]["inputs"]["strength_model"] == pytest.approx(0.0)
    assert sent["3"]["inputs"]["seed"] == 42
    assert sent["9"]["class_type"] == "PreviewImage"  # nothing fills the output folder


@pytest.mark.parametrize("text", [workflows.usual(), workflows.advanced()])
def test_the_first_coordinate_alone_is_the_seed_of_the_workflow(server, text):
    guider = "3" if json.loads(text)["3"]["class_type"] == "KSampler" else "22"
    (plain,) = data(ComfyUI(text, tune=f"{guider}.cfg:4..9", url=server.url), [[0.0]])
    blend = ComfyUI(text, tune=f"{guider}.cfg:4..9", noise=4, url=server.url)
    assert data(blend, [[*FIRST_SEED, 0.0]]) == [plain]
    assert data(blend, [[0, 3.0, 0, 0, 0.0]]) != [plain]


def test_blended_noise_is_normal_and_its_length_does_not_matter(server):
    tuned(server, "", noise=64).render([np.arange(64.0) + 1, 5 * (np.arange(64.0) + 1)])
    weights = [
        decode_weights(sent["3-noise"]["inputs"]["coordinates"]) for sent in server.received[-2:]
    ]
    assert np.linalg.norm(weights[0]) == pytest.approx(1.0)
    assert weights[0] == pytest.approx(weights[1])
    made = server.custom["ZorankNoise"]().make(7, sent_by(server))[0]
    noise = made.generate_noise({"samples": np.zeros((1, 4, 64, 64))})
    assert noise.mean() == pytest.approx(0, abs=0.05)  # 6 standard errors
    assert noise.var() == pytest.approx(1, abs=0.07)


def sent_by(server):
    return server.received[-1]["3-noise"]["inputs"]["coordinates"]


def test_the_exported_workflow_makes_the_picture_again(server):
    renderer = tuned(server, noise=4)
    candidate = np.random.default_rng(3).standard_normal(5)
    saved = renderer.export(candidate).decode()
    again = ComfyUI(saved, tune="10.strength_clip:0..2", url=server.url)
    assert data(again, [[0.0]]) == data(renderer, [candidate])
    assert json.loads(saved)["9"]["class_type"] == "SaveImage"


def test_pictures_lose_the_workflow_that_comfyui_writes_into_them(server):
    (exhibit,) = tuned(server).render([[0.0]])
    assert "prompt" in Image.open(BytesIO(next(iter(server.files.values())))).text
    assert b"CLIPTextEncode" not in exhibit.data


def test_progress_and_previews_arrive_over_the_socket(server):
    shares, previews = [], []
    tuned(server).render(
        [[0.0]], progress=shares.append, preview=lambda *shown: previews.append(shown)
    )
    assert len({round(share, 3) for share in shares}) > 8
    assert [position for position, _ in previews] == [0]
    assert Image.open(BytesIO(previews[0][1].data)).size == (8, 8)


@pytest.mark.parametrize(
    ("tune", "said"),
    [
        ("3.cfg", None),
        ("", r"--option noise=64 .* 3\.cfg of \"Sampler\" \(7\), .*strength_clip"),
        ("3.steps:4..9", "3.steps is INT, and only FLOAT"),
        ("3.cfg:4..900", r"within 0\.\.100, found 4\.\.900"),
        ("3.cfg:9..4", "low must be below high"),
        ("3.cfg:4..", "NODE.INPUT:LOW..HIGH"),
        ("cfg", "NODE.INPUT:LOW..HIGH"),
        ("3.cgf:4..9", "has no input 'cgf'; it has seed"),
        ("Sampelr.cfg:4..9", "no node 'Sampelr'; it has 3 \"Sampler\""),
        ("Prompt.text:4..9", "2 nodes have the title 'Prompt'; use an id: 6, 7"),
        ("6.text:4..9", "must be a number"),
        ("3.model:4..9", "is linked to another node"),
        ("3.cfg:4..9, Sampler.cfg:1..2", "twice"),
    ],
)
def test_what_is_tuned_is_checked(server, tune, said):
    if said is None:
        assert tuned(server, tune).tune == "3.cfg:0.0..100.0"
        return
    with pytest.raises(InvalidInput, match=said):
        tuned(server, tune).check()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ('{"nodes": [], "links": []}', r"format of the editor.*Export \(API\)"),
        ('{"1": {"inputs": {}}}', "must have a class_type"),
        ('{"1": {"class_type": "A", "inputs": {"x": ["2", 0]}}}', "which the workflow lacks"),
        ("nowhere.json", "cannot be read"),
    ],
)
def test_other_files_are_refused(text, said):
    with pytest.raises(InvalidInput, match=said):
        ComfyUI(text, tune="1.x:0..1")


@pytest.mark.parametrize(
    "url", ["localhost:8188", "ftp://x", "http://", "http://a b", "http://u:p@x", "http://x:99999"]
)
def test_other_urls_are_refused(url):
    with pytest.raises(InvalidInput, match="URL of ComfyUI"):
        ComfyUI(workflows.usual(), tune="3.cfg:4..9", url=url)


def test_check_names_the_node_that_the_server_lacks(start, server):
    renderer = ComfyUI(workflows.usual(), noise=4, url=start(custom_nodes=None).url)
    with pytest.raises(
        InvalidInput, match=r"lacks the node ZorankNoise: run `zorank comfyui-node"
    ):
        renderer.check()
    other = workflows.usual().replace("VAEDecode", "TiledVAE")
    with pytest.raises(InvalidInput, match=r'kind TiledVAE, which the node "VAE Decode" \(8\) is'):
        tuned(server, text=other).check()
    no_noise = json.dumps({k: v for k, v in json.loads(workflows.usual()).items() if k in "4"})
    with pytest.raises(InvalidInput, match="needs a KSampler"):
        ComfyUI(no_noise, noise=4, url=server.url)


def test_a_refusal_and_a_failure_name_the_node(server):
    with pytest.raises(RenderError, match=r'refused the node "Sampler" \(3\): Value not in list'):
        tuned(server, text=workflows.usual(sampler_name="eular")).render([[0.0]])
    server.failing["8"] = "CUDA out of memory\n  at line 3"
    renderer = tuned(server)
    with pytest.raises(RenderError) as caught:
        renderer.render([[0.0], [1.0], [2.0]])
    assert str(caught.value) == (
        'in ComfyUI, the node "VAE Decode" (8) failed (RuntimeError: CUDA out of memory at line '
        "3); the run is unchanged: try again, or mend the workflow"
    )
    del server.failing["8"]
    assert len(renderer.render([[0.0]])) == 1


def test_what_waits_for_a_failed_picture_leaves_the_queue(server):
    turns = threading.Semaphore(0)
    server.go = SimpleNamespace(wait=lambda seconds: turns.acquire(timeout=seconds))
    server.failing["8"] = "no"
    thread, raised = in_background(lambda: tuned(server).render([[0.0], [1.0], [2.0]]))
    wait_until(lambda: len(server.pending) == 2 and server.running, "three workflows")
    turns.release()
    thread.join()
    assert "failed" in raised[0]
    wait_until(lambda: not server.pending and not server.running, "an empty queue")
    assert len(server.history) <= 2  # the second may have begun


@pytest.mark.parametrize("sockets", [True, False])
def test_a_server_that_dies_while_it_renders_and_comes_back(start, sockets):
    server = start(sockets=sockets)
    renderer = tuned(server)
    expected = data(renderer, [[0.5]])
    server.go.clear()
    thread, raised = in_background(lambda: renderer.render([[1.0]]))
    wait_until(lambda: server.running, "a workflow that runs")
    server.stop()
    thread.join()
    assert len(raised) == 1
    assert raised[0].startswith(f"ComfyUI does not answer at {server.url} (")
    with pytest.raises(RenderError, match="connection refused"):
        renderer.render([[1.0]])
    server.go.set()
    server.start()
    assert data(renderer, [[0.5]]) == expected


def test_a_server_that_restarts_at_once_has_lost_the_picture(start):
    server = start(sockets=False)
    server.go.clear()
    thread, raised = in_background(lambda: tuned(server).render([[1.0]]))
    wait_until(lambda: server.running, "a workflow that runs")
    with server.changed:  # what a restart between two requests looks like
        server.running, server.go = [], threading.Event()
    thread.join()
    assert "has lost the picture: it was restarted" in raised[0]


def test_a_picture_that_makes_no_progress_is_given_up_and_interrupted(server):
    server.go.clear()
    with pytest.raises(RenderError, match=r"no progress for 0\.3 s; .*timeout"):
        tuned(server, timeout=0.3).render([[0.0], [1.0]])
    assert len(server.interrupts) == 1
    wait_until(lambda: not server.running and not server.pending, "an empty queue")


def test_other_peoples_workflows_are_left_alone(server):
    server.go.clear()
    server.submit({"prompt": json.loads(workflows.usual()), "prompt_id": "another's"})
    wait_until(lambda: server.running, "another's workflow")
    with pytest.raises(RenderError, match="no progress"):
        tuned(server, timeout=0.3).render([[0.0]])
    assert server.interrupts == []
    assert [job["id"] for job in server.running] == ["another's"]


def test_redirects_are_not_followed(server, monkeypatch):
    monkeypatch.setattr(server, "object_info", None)
    handler = server._http.RequestHandlerClass

    def do_GET(self):
        self.send_response(302)
        self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    monkeypatch.setattr(handler, "do_GET", do_GET)
    with pytest.raises(RenderError, match="with HTTP 302; check that it is ComfyUI"):
        tuned(server).check()


def test_node_weights_are_base64_of_floats():
    assert decode_weights("") == [1.0]
    with pytest.raises(ValueError, match="must be base64"):
        decode_weights("?")
    with pytest.raises(ValueError, match="finite"):
        decode_weights("AADAfw==")
