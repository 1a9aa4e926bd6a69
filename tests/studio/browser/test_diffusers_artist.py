"""LoRAs, few steps, single files, photos and starts in the studio: command line, HTTP, page."""

import resource
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.helpers import tiny_pipelines
from tests.helpers.browser import PATIENCE, run_of
from tests.helpers.studio_server import Server, client_of
from tests.renderers.test_starts import A1111, png
from zorank.renderers import REGISTRY, Diffusers
from zorank.renderers.diffusers import noise
from zorank.renderers.interface import RendererKind

# diffusers itself is not yet at peace with NumPy 2.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

PNG = A1111.replace("512x768", "64x64")


@pytest.fixture(scope="module")
def place(sd, tmp_path_factory):
    """A folder with what an artist has: a model in one file, two LoRAs, a photo, a picture."""
    folder = tmp_path_factory.mktemp("artist")
    tiny_pipelines.save_single_file(sd, folder / "one.safetensors")
    tiny_pipelines.save_lora(folder, "ink.safetensors", 1)
    tiny_pipelines.save_lora(folder, "paper.safetensors", 2, text=True)
    pixels = np.linspace(0, 255, 64 * 64 * 3).reshape(64, 64, 3).astype(np.uint8)
    Image.fromarray(pixels).save(folder / "photo.jpg")
    (folder / "start.png").write_bytes(png(parameters=PNG))
    return folder


@pytest.fixture(scope="module")
def studio(sd, place, tmp_path_factory):
    given = {
        "model": "one.safetensors",
        "config": sd,
        "steps": 2,
        "sampler": "lcm",
        "tune": "latents+adapters",
        "drafts": 1,
    }
    options = [f"{name}={value}" for name, value in given.items()]
    options += ["lora=ink.safetensors:0.5", "lora=paper.safetensors:0.3"]
    said = [word for option in options for word in ("--option", option)]
    store = tmp_path_factory.mktemp("studio") / "runs.db"
    server = Server(store, "--renderer", "diffusers", "--start", "start.png", *said)
    server.start(cwd=place)
    with server.client() as client:  # torch alone takes a while to be imported
        client.post("/api/runs", json={"renderer": "diffusers"}, timeout=600).raise_for_status()
    yield server
    server.stop()


PLAIN = {"tune": "latents", "drafts": 0}  # computing looks takes longest
OTHERS = [
    {},
    {"sampler": "euler", "spacing": "trailing", "guidance": 0, "steps": 1, **PLAIN},
    {"image": "photo.jpg", "strength": 0.5, "lora": "", "steps": 4, **PLAIN},
]


@pytest.mark.parametrize("options", OTHERS, ids=["loras", "turbo", "photo"])
def test_the_way_over_http(studio, place, options):
    options = {key: str(place / v) if v == "photo.jpg" else v for key, v in options.items()}
    body = {"renderer": "diffusers", "seed": 1, "m": 3, "options": options}
    with studio.client() as client:
        run = client.post("/api/runs", json=body, timeout=600).raise_for_status().json()["id"]
        for index in range(2):
            waiting = client.get(f"/api/runs/{run}/round", timeout=600).json()
            assert (waiting["index"], waiting["question"]) == (index, "rank")
            shown = [client.get(e["url"], timeout=600) for e in waiting["exhibits"]]
            assert len({one.raise_for_status().content for one in shown}) == 3
            answer = {"order": [[2], [0]], "key": waiting["key"]}
            client.post(
                f"/api/runs/{run}/rounds/{index}/answer", json=answer, timeout=600
            ).raise_for_status()
        exported = client.get(f"/api/runs/{run}/export").json()
        best = client.get(f"/api/runs/{run}/best", timeout=600).content
        vector = client.get(f"/api/runs/{run}/vector").json()
    meta = exported["meta"]
    assert meta["start"] == "seed:1234:cuda:64x64"
    assert np.array_equal(exported["x0"][:4096], noise.cuda_normal(1234, 4096))
    assert meta["renderer_options"]["model"] == str(place / "one.safetensors")
    if not options:
        loras = f"{place}/ink.safetensors:0.5,{place}/paper.safetensors:0.3"
        assert meta["renderer_options"]["lora"] == loras
        assert exported["optimizer"] == "rank-looks" or "looks" not in meta  # a busy machine
    renderer = REGISTRY["diffusers"](**meta["renderer_options"])
    assert renderer.render([np.array(vector)])[0].data == best


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lora": "gone.safetensors:1"}, "the LoRA gone.safetensors is not there"),
        ({"lora": "one.safetensors:1"}, "does not fit the model"),
        ({"config": ""}, "it also needs the configuration of its family"),
        ({"model": "ink.safetensors"}, "is a LoRA, which changes another model"),
        ({"image": "start.txt"}, "there is no photo start.txt"),
        ({"image": "one.safetensors", "tune": "latents"}, "cannot be read; pass a JPEG"),
    ],
)
def test_a_run_that_cannot_be_made_says_why(studio, place, options, words):
    full = {
        key: str(place / value) if (place / value).is_file() else value
        for key, value in options.items()
    }
    with studio.client() as client:
        before = len(client.get("/api/runs").json())
        body = {"renderer": "diffusers", "options": full}
        refused = client.post("/api/runs", json=body, timeout=600)
        assert refused.status_code == 422
        assert words in refused.json()["detail"]
        assert len(client.get("/api/runs").json()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "old.ckpt"], "opening it can run any program"),
        (["--model", "gone.safetensors"], "the model gone.safetensors is not there"),
        (["--model", "one.safetensors", "--option", "config=."], "holds no diffusers pipeline"),
        (["--option", "lora=ink.safetensors:20"], "weight of a LoRA must be from -10 to 10"),
        (["--option", "lora=photo.jpg"], "has the suffix '.jpg'; pass a .safetensors file"),
        (["--option", "image=gone.jpg"], "there is no photo gone.jpg"),
        (["--option", "image=old.ckpt"], "cannot be read; pass a JPEG"),
        (["--option", "tune=adapters"], "no LoRA whose weight could be tuned"),
    ],
)
def test_the_command_line_refuses_in_one_sentence(
    refused, place, tmp_path, monkeypatch, arguments, words
):
    monkeypatch.chdir(place)
    Path("old.ckpt").write_bytes(b"\x80\x02}q\x00.")
    given = ("--renderer", "diffusers", *arguments)
    assert words in refused("studio", "--no-browser", "--store", tmp_path / "x.db", *given)


def offered(tiny, **options):
    given = {"model": tiny.model, "steps": 2, **options}
    return {"diffusers": RendererKind.of("diffusers", Diffusers).filled(given)}


def test_too_little_memory_is_one_sentence_and_the_run_stays(tiny, store):
    """A real allocation that this process may not have."""
    client = client_of(store, offered(tiny, width=1024, height=1024))
    run = client.post("/api/runs", json={"renderer": "diffusers", "m": 3}).json()["id"]
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**27, hard))
    try:
        waiting = client.get(f"/api/runs/{run}/round").json()
        failed = client.get(waiting["exhibits"][0]["url"])
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert failed.status_code == 503
    assert "not enough memory for a single picture; choose a smaller" in failed.json()["detail"]
    assert client.get(f"/api/runs/{run}/round").json()["key"] == waiting["key"]
    answer = {"order": [[1], [0]], "key": waiting["key"]}
    answered = client.post(f"/api/runs/{run}/rounds/0/answer", json=answer)
    assert answered.raise_for_status().json()["index"] == 1


def test_a_model_that_was_moved_is_named_again(tiny, store, tmp_path, printed, refused):
    folder = copytree(tiny.model, tmp_path / "here")
    client = client_of(store, offered(replace(tiny, model=str(folder))))
    run = client.post("/api/runs", json={"renderer": "diffusers", "m": 3}).json()["id"]
    folder.rename(tmp_path / "there")
    given = ("--store", tmp_path / "runs.db")
    assert "there is no folder" in refused("runs", "set", run, "model=./nowhere", *given)
    said = printed("runs", "set", run, f"model={tmp_path / 'there'}", *given)
    assert f"model is {tmp_path / 'there'} now" in said
    again = client_of(store, offered(tiny))
    url = again.get(f"/api/runs/{run}/round").json()["exhibits"][0]["url"]
    assert again.get(url).headers["content-type"] == "image/jpeg"


def test_a_run_with_a_pipeline_says_so_when_it_is_opened_without(tiny, store):
    from diffusers import DiffusionPipeline

    pipeline = DiffusionPipeline.from_pretrained(tiny.model, local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    mine = Diffusers(pipeline=pipeline, prompt="a red house", steps=2)
    client = client_of(store, {"diffusers": mine})
    run = client.post("/api/runs", json={"renderer": "diffusers", "m": 3}).json()["id"]
    url = client.get(f"/api/runs/{run}/round").json()["exhibits"][0]["url"]
    picture = client.get(url).raise_for_status().content
    same = client_of(store, {"diffusers": replace(mine, steps=1)})  # the run keeps its steps
    assert same.get(url).content == picture
    without = client_of(store, offered(tiny))
    refused = without.get(without.get(f"/api/runs/{run}/round").json()["exhibits"][0]["url"])
    assert refused.status_code in (422, 503)
    assert "made with a StableDiffusionPipeline of a Python program" in refused.json()["detail"]


def test_the_way_in_a_browser(studio, place, person):
    somebody = person()
    somebody.context.set_default_timeout(4 * PATIENCE)  # real denoising
    tab = somebody.open(studio)
    tab.see("new-run").first.click()
    tab.page.get_by_text("More", exact=True).click()
    expect(tab.see("start")).to_have_value("seed:1234:cuda:64x64")
    (place / "other.png").write_bytes(png(parameters=PNG.replace("1234", "99") + ", RNG: CPU"))
    tab.see("start-file").set_input_files(place / "other.png")
    expect(tab.see("start")).to_have_value("seed:99:cpu:64x64")
    tab.page.get_by_label("Lora", exact=True).fill(f"{place}/ink.safetensors:0.7")
    tab.page.get_by_label("Image", exact=True).fill(str(place / "photo.jpg"))
    tab.page.locator("#option-width").fill("64")
    tab.page.locator("#option-height").fill("64")
    tab.page.locator("input[name=m][value='4']").check()
    tab.see("start-run").click()
    tab.expect_round(0, "rank")
    tab.click(2)
    tab.see("next").click()
    tab.expect_round(1, "rank")
    with studio.client() as client:
        exported = client.get(f"/api/runs/{run_of(tab)}/export").json()
    assert exported["meta"]["start"] == "seed:99:cpu:64x64"
    assert exported["meta"]["renderer_options"]["lora"] == f"{place}/ink.safetensors:0.7"
    assert len(exported["x0"]) == 4097
