"""Starts: seeds of other programs, the PNG files that tell them, and vectors."""

import json
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from zorank.errors import InvalidInput
from zorank.renderers import Landscape
from zorank.renderers.diffusers import noise
from zorank.renderers.interface import resolve
from zorank.renderers.picture_seeds import HEAD, seed_in
from zorank.renderers.starts import Seed, start_of

A1111 = """a lighthouse in a storm, (oil painting:1.2), Size: large
Negative prompt: people, Seed: none
Steps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1234, Size: 512x768, Model hash: 6ce0161689"""

SAMPLER = {"seed": 77, "steps": 20, "denoise": 1.0, "latent_image": ["5", 0]}
COMFY = {
    "3": {"class_type": "KSampler", "inputs": SAMPLER},
    "5": {"class_type": "EmptyLatentImage", "inputs": {"width": 512, "height": 640}},
}


def png(size=(8, 8), **texts):
    info = PngImagePlugin.PngInfo()
    for key, text in texts.items():
        info.add_text(key, text)
    file = BytesIO()
    Image.new("RGB", size).save(file, "PNG", pnginfo=info)
    return file.getvalue()


@pytest.mark.parametrize(
    ("text", "seed"),
    [
        ("seed:1234", Seed(1234)),
        ("seed:0:cuda", Seed(0, "cuda")),
        ("seed:18446744073709551615:cpu:64x32", Seed(2**64 - 1, "cpu", 64, 32)),
    ],
)
def test_a_seed_is_read_from_its_text(text, seed):
    assert Seed.parse(text) == seed
    assert Seed.parse(str(seed)) == seed


@pytest.mark.parametrize(
    "text", ["seed:", "seed:-1", "seed:1:gpu", "1234", "seed:99999999999999999999"]
)
def test_other_texts_are_no_seeds(text):
    with pytest.raises(InvalidInput, match=r"a start must be seed:N|a seed must be from 0"):
        Seed.parse(text)


def test_the_noise_of_a_gpu_is_computed_without_one():
    # The known answer of Random123, and what torch.randn printed on an Nvidia GPU for seed 0.
    assert [hex(word) for word in noise.philox(0, 1)[:, 0].tolist()] == [
        *("0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8")
    ]
    printed = [-0.9247, -0.4253, -2.6438, 0.1452, -0.1209, -0.5797, -0.6229, -0.3284, -1.0745]
    assert noise.cuda_normal(0, 9).round(4).tolist() == pytest.approx(printed, abs=1e-6)
    many = noise.cuda_normal(2**40 + 3, 40_000)
    assert abs(many.mean()) < 0.02
    assert abs(many.std() - 1) < 0.02


def test_a_picture_of_a1111_tells_its_seed_and_which_generator():
    assert seed_in(png(parameters=A1111)) == Seed(1234, "cuda", 512, 768)
    assert seed_in(png(parameters=A1111 + ", RNG: CPU")) == Seed(1234, "cpu", 512, 768)
    assert seed_in(png(parameters=A1111 + ", RNG: NV")) == Seed(1234, "cuda", 512, 768)
    hires = A1111 + r', Hires prompt: "a \"b\", Seed: 9, Size: 8x8", Version: 1'
    assert seed_in(png(parameters=hires)) == Seed(1234, "cuda", 512, 768)
    assert seed_in(png((900, 900), parameters=A1111)[:HEAD]) == Seed(1234, "cuda", 512, 768)


def test_a_picture_of_comfyui_tells_its_seed():
    assert seed_in(png(prompt=json.dumps(COMFY))) == Seed(77, "cpu", 512, 640)
    linked = {**COMFY, "9": {"class_type": "Seed", "inputs": {"seed": 12}}}
    linked["3"] = {"class_type": "KSampler", "inputs": {**SAMPLER, "seed": ["9", 0]}}
    assert seed_in(png(prompt=json.dumps(linked))) == Seed(12, "cpu", 512, 640)
    upscaled = {**COMFY, "7": {"inputs": {**SAMPLER, "seed": 5, "denoise": 0.4}}}
    assert seed_in(png(prompt=json.dumps(upscaled))) == Seed(77, "cpu", 512, 640)
    flux = {"1": {"class_type": "RandomNoise", "inputs": {"noise_seed": 2**63}}}
    assert seed_in(png(prompt=json.dumps(flux))) == Seed(2**63)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (b"\xff\xd8\xff not a PNG", "must be a PNG of A1111 or ComfyUI"),
        (png(), "has no seed: neither A1111's"),
        (png(parameters="Steps: 20"), "has no seed; give it as seed:N"),
        (png(parameters=A1111 + ", Variation seed strength: 0.2"), "mixes two seeds"),
        (png(prompt="{"), "graph of the picture cannot be read"),
        (png(prompt="[" * 5000), "graph of the picture cannot be read"),
        (png(prompt="{}"), "must have one seed, found none"),
        (png(prompt=json.dumps({"1": {"inputs": {"seed": -4}}, "2": 5})), "found none"),
        (
            png(prompt=json.dumps({**COMFY, "4": {"inputs": {**SAMPLER, "seed": 78}}})),
            "must have one seed, found 77, 78; give it as seed:N",
        ),
        (png(prompt=json.dumps({"1": {"inputs": {"seed": ["1", 0]}}})), "found none"),
    ],
)
def test_a_picture_without_one_seed_is_refused(file, words):
    with pytest.raises(InvalidInput, match=words):
        seed_in(file)


def test_a_renderer_without_noise_of_its_own_starts_at_a_draw_of_numpy():
    renderer = resolve(Landscape())
    drawn = np.random.default_rng(5).standard_normal(renderer.dim)
    assert np.array_equal(start_of(renderer, "seed:5"), drawn)
    assert np.array_equal(start_of(renderer, drawn.tolist()), drawn)
    with pytest.raises(InvalidInput, match=r"start has 3 numbers, and a candidate of .* has 62"):
        start_of(renderer, [1.0, 2.0, 3.0])
    with pytest.raises(InvalidInput, match=r"the start.*NaN|the start.*finite"):
        start_of(renderer, [float("nan")] * 62)
