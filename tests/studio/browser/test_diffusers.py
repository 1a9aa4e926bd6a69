"""Diffusion pipelines in the studio: its interface, its command line, a browser."""

import re
from io import BytesIO

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image
from playwright.sync_api import expect

from tests.helpers.browser import PATIENCE
from tests.helpers.studio_server import Server
from zorank.renderers import REGISTRY, Diffusers
from zorank.renderers.diffusers import models
from zorank.renderers.interface import RendererKind
from zorank.stores import open_store
from zorank.studio import create_app

# diffusers itself is not yet at peace with NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

TOKEN = "t0ken"


@pytest.fixture
def client(tiny, tmp_path):
    store = open_store(str(tmp_path / "runs.db"))
    given = {"model": tiny.model, "prompt": "a red house", "steps": 2}
    renderers = {"diffusers": RendererKind.of("diffusers", Diffusers).filled(given)}
    app = create_app(store, renderers, TOKEN, hosts=("testserver",))
    yield TestClient(app, headers={"Authorization": f"Bearer {TOKEN}"})
    store.close()


def test_a_crash_in_the_model_leaves_the_run_answerable(client, tiny, monkeypatch):
    run = client.post("/api/runs", json={"renderer": "diffusers", "m": 3}).json()["id"]
    pipeline = models.load(tiny.model).pipeline
    decode = pipeline.vae.decode

    def crash(*_, **__):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(pipeline.vae, "decode", crash)
    client.post(f"/api/runs/{run}/rounds/0/answer", json={"order": [[0]]}).raise_for_status()
    waiting = client.get(f"/api/runs/{run}/round").json()
    broken = client.get(waiting["exhibits"][0]["url"])
    assert broken.status_code == 503
    assert "the model failed (RuntimeError: CUDA error" in broken.json()["detail"]
    assert "try again" in broken.json()["detail"]
    monkeypatch.setattr(pipeline.vae, "decode", decode)
    shown = [client.get(exhibit["url"]) for exhibit in waiting["exhibits"]]
    assert [one.headers["content-type"] for one in shown] == ["image/jpeg"] * 3
    answered = client.post(f"/api/runs/{run}/rounds/1/answer", json={"order": [[1], [0]]})
    taken = answered.raise_for_status().json()
    assert (taken["closed"], taken["index"]) == (True, 2)


def test_filled_options_are_offered_stored_and_changeable(client, tiny):
    (offered,) = client.get("/api/renderers").json()
    defaults = {option["name"]: option["default"] for option in offered["options"]}
    assert defaults["prompt"] == "a red house"
    assert defaults["model"] == tiny.model
    sampler = next(option for option in offered["options"] if option["name"] == "sampler")
    assert sampler["choices"] == ["dpm++", "ddim", "euler", "lcm", "own"]
    body = {"renderer": "diffusers", "m": 3, "options": {"prompt": "a blue boat"}}
    run = client.post("/api/runs", json=body).json()["id"]
    assert client.get(f"/api/runs/{run}").json()["title"] == "a blue boat"
    kept = client.get(f"/api/runs/{run}/export").json()["meta"]["renderer_options"]
    # All of it, so that a new default does not change an old run.
    meant = vars(Diffusers(model=tiny.model, prompt="a blue boat", steps=2))
    assert kept == {name: value for name, value in meant.items() if name in defaults}


def test_a_run_that_cannot_be_made_says_why(client):
    body = {"renderer": "diffusers", "options": {"model": "somebody/some-model"}}
    refused = client.post("/api/runs", json=body)
    assert refused.status_code == 422
    assert "hf download somebody/some-model" in refused.json()["detail"]


def test_the_drift_of_a_run_is_measured(client):
    body = {"renderer": "diffusers", "m": 3, "seed": 1}
    run = client.post("/api/runs", json=body).json()["id"]
    empty = client.get(f"/api/runs/{run}/drift").json()
    assert empty == {"rounds": [], "change": None, "words": ""}
    for index in range(12):  # until the best has moved: where it stands on screen is shuffled
        order = [[index % 3], [(index + 1) % 3]][: index + 1]
        client.post(f"/api/runs/{run}/rounds/{index}/answer", json={"order": order})
        found = client.get(f"/api/runs/{run}/drift").json()
        if len(found["rounds"]) > 1:
            break
    assert [row["round"] for row in found["rounds"]][:1] == [0]
    assert len(found["rounds"]) > 1
    assert all(abs(row["norm"] - 1) < 1e-6 and len(row["mean"]) == 4 for row in found["rounds"])
    start, best = (
        np.asarray(Image.open(BytesIO(client.get(f"/api/runs/{run}/{which}").content)), float)
        for which in ("start", "best")
    )
    assert found["change"] == pytest.approx(np.abs(best - start).mean() / 255)
    assert found["change"] > 0
    assert "still typical of Gaussian noise; colours have changed by" in found["words"]


@pytest.fixture(scope="module")
def studio(sd, tmp_path_factory):
    given = ["--model", sd, "--prompt", "a red house", "--option", "steps=3"]
    store = tmp_path_factory.mktemp("studio") / "runs.db"
    server = Server(store, "--renderer", "diffusers", *given).start()
    with server.client() as client:  # torch alone takes a while to be imported
        client.post("/api/runs", json={"renderer": "diffusers"}, timeout=600).raise_for_status()
    yield server
    server.stop()


@pytest.mark.parametrize("family", ["sd", "sdxl"])
def test_the_way_over_http(studio, family, request):
    made = {"renderer": "diffusers", "seed": 1}
    if family == "sdxl":
        made["options"] = {"model": request.getfixturevalue("sdxl")}
    with studio.client() as client:
        run = client.post("/api/runs", json=made, timeout=600).json()["id"]
        before = set()
        for index, question in enumerate(["start", "rank", "rank"]):
            waiting = client.get(f"/api/runs/{run}/round").json()
            assert (waiting["index"], waiting["question"]) == (index, question)
            shown = [client.get(e["url"]).raise_for_status() for e in waiting["exhibits"]]
            assert len({one.content for one in shown}) == 6
            assert all(one.content[:3] == b"\xff\xd8\xff" for one in shown)
            now = {one.content for one in shown}
            assert len(now - before) >= 4  # the best so far may be shown again, new ones must be
            before = now
            answer = {"order": [[2], [0]], "key": waiting["key"]}
            client.post(f"/api/runs/{run}/rounds/{index}/answer", json=answer).raise_for_status()
        exported = client.get(f"/api/runs/{run}/export").json()
        best = client.get(f"/api/runs/{run}/best").content
        vector = client.get(f"/api/runs/{run}/vector").json()
    # The recipe alone gives the picture again, bit for bit, in another process.
    renderer = REGISTRY["diffusers"](**exported["meta"]["renderer_options"])
    assert renderer.render([np.array(vector)])[0].data == best


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--renderer", "diffusers", "--model", "./nowhere"], "there is no folder './nowhere'"),
        (["--renderer", "diffusers", "--model", "some/model"], "hf download some/model"),
        (["--renderer", "diffusers", "--model", "."], "has no model_index.json"),
        (["--renderer", "diffusers", "--option", "sampler=ddpm"], "add no noise"),
        (["--renderer", "diffusers", "--option", "steps=many"], "steps must be a whole number"),
        (["--renderer", "diffusers", "--option", "steps"], "name=value"),
        (["--renderer", "diffusers", "--option", "colour=red"], "takes no 'colour'"),
        (["--renderer", "landscape", "--prompt", "a house"], "landscape takes no 'prompt'"),
    ],
)
def test_the_command_line_refuses_in_one_sentence(
    refused, tmp_path, monkeypatch, arguments, words
):
    monkeypatch.chdir(tmp_path)
    assert words in refused("studio", "--no-browser", "--store", tmp_path / "x.db", *arguments)


SOME_PROGRESS = """() => [...document.querySelectorAll("progress.drawn")].some((bar) =>
  bar.checkVisibility() && bar.value > 0 && bar.value < 1)"""


def test_the_way_in_a_browser(studio, person):
    somebody = person()
    somebody.context.set_default_timeout(4 * PATIENCE)  # real denoising
    tab = somebody.open(studio)
    tab.see("new-run").first.click()
    expect(tab.page.get_by_label("Prompt", exact=True)).to_have_value("a red house")
    expect(tab.page.get_by_role("textbox", name="Model")).to_have_value(re.compile("sd"))
    tab.page.get_by_label("Prompt", exact=True).fill("a blue boat")
    tab.page.get_by_text("More", exact=True).click()
    tab.page.get_by_label("Steps").fill("50")  # so slow that progress can be seen
    tab.page.locator("input[name=m][value='4']").check()
    tab.see("start-run").click()
    tab.page.wait_for_function(SOME_PROGRESS)
    tab.page.locator("img.preview[src^='data:image/jpeg']").first.wait_for(state="attached")
    tab.expect_round(0, "start")
    expect(tab.page.locator("progress.drawn").filter(visible=True)).to_have_count(0)
    tab.click(2)
    tab.see("next").click()
    tab.expect_round(1, "rank")
    expect(tab.see("drift")).to_contain_text("The latents are still typical of Gaussian noise")
